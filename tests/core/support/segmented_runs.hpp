#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "models/phold.hpp"
#include "pdes/run_model.hpp"

namespace idlewave::testing {

/// The path of a directory for the running test, which does not exist yet.
inline std::string fresh_directory() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = ::testing::TempDir() + "idlewave-" + test->name();
    std::filesystem::remove_all(name);
    return name;
}

template <class M>
pdes::RunResult run(const M& written, const pdes::RunConfiguration& options) {
    return pdes::run_model(written, options, [](std::uint32_t /*lp*/, const typename M::State& /*state*/) {});
}

/// Compiled once (phold_runs.cpp): many tests use it, and each compilation takes half a minute.
extern template pdes::RunResult run(const models::Phold&, const pdes::RunConfiguration&);

inline models::PholdParameters phold_of(std::uint32_t lps, Time end) {
    models::PholdParameters parameters;
    parameters.lps = lps;
    parameters.remote = 0.3;
    parameters.start_events = 4;
    parameters.end = end;
    return parameters;
}

/// Run configurations with segments, which all give the same result.
inline std::vector<pdes::RunConfiguration> ways() {
    std::vector<pdes::RunConfiguration> ways;
    for (const std::string scheduler : {"sequential", "yawns", "timewarp"}) {
        for (const std::uint32_t threads : {1U, 2U, 3U}) {
            if (threads == 1 || scheduler != "sequential") {
                pdes::RunConfiguration& way = ways.emplace_back();
                way.scheduler = scheduler;
                way.lazy_cancellation = threads == 2;
                way.threads = threads;
            }
        }
    }
    return ways;
}

/// Events that walk from LP to LP. An LP draws random bits, emits words, and keeps a sum outside of its state.
struct Wordy {
    struct State {
        std::uint64_t handled = 0;
        std::uint64_t digest = 0;
    };
    struct Payload {
        std::uint32_t hops = 0;

        bool operator==(const Payload&) const = default;
    };
    struct Record {
        std::uint64_t word = 0;
    };
    static constexpr std::uint32_t count = 60;
    static constexpr bool saves_fields = true;

    static constexpr bool needs_lookahead = true;
    [[nodiscard]] static std::uint32_t lps() { return count; }
    [[nodiscard]] static Time lookahead() { return 100; }
    [[nodiscard]] static std::uint64_t seed() { return 4; }

    template <class Context>
    void start(State& /*state*/, Context& context) const {
        context.send(context.self(), 0, Payload{600});
    }

    template <class Context>
    void handle(State& state, const Payload& payload, Context& context) const {
        const Philox bits = context.random_bits();
        context.save(state);
        context.save(sums[context.self()]);
        ++state.handled;
        state.digest = sums[context.self()] += bits[0] ^ static_cast<std::uint64_t>(context.now());
        if (bits[3] % 16 == 0) {
            context.emit(Record{state.digest});
        }
        if (payload.hops > 0) {
            context.send(static_cast<std::uint32_t>(below(count, bits[1])), 100 + static_cast<Time>(bits[2] % 100),
                         Payload{payload.hops - 1});
        }
    }

    template <class Archive>
    void serialise(std::uint32_t lp, Archive& archive) const {
        archive(sums[lp]);
    }

    mutable std::vector<std::uint64_t> sums = std::vector<std::uint64_t>(count);
};

}  // namespace idlewave::testing
