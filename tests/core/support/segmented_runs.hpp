#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "behaviour.hpp"
#include "models/phold.hpp"
#include "pdes/handler_model.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/run_model.hpp"
#include "pdes/run_statistics.hpp"

namespace idlewave::testing {

/// The path of a directory for the running test, which does not exist yet.
inline std::string fresh_directory() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = ::testing::TempDir() + "idlewave-" + test->name();
    std::filesystem::remove_all(name);
    return name;
}

/// To its end, as the configuration says.
template <class M>
pdes::RunResult run(const M& written, const pdes::RunConfiguration& options);

/// What a run leads to whose records are kept.
struct RunWithRecords {
    pdes::RunStatistics statistics;
    std::vector<pdes::EmittedRecord<Behaviour::Record>> emitted;
};

/// With every n-th LP on a partition.
template <class M>
RunWithRecords run_with_records(const M& written, const pdes::RunConfiguration& configuration);

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
struct Wordy : Behaviour {
    static constexpr std::uint32_t count = 60;

    [[nodiscard]] std::uint32_t lps() const override { return count; }
    [[nodiscard]] Time lookahead() const override { return 100; }
    [[nodiscard]] std::uint64_t seed() const override { return 4; }

    void start(State& /*state*/, Context& context) const override {
        context.send(context.self(), 0, Payload{.hops = 600});
    }

    void handle(State& state, const Payload& payload, Context& context) const override {
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
                         Payload{.hops = payload.hops - 1});
        }
    }

    [[nodiscard]] std::uint64_t* kept_outside(std::uint32_t lp) const override { return &sums[lp]; }

    mutable std::vector<std::uint64_t> sums = std::vector<std::uint64_t>(count);
};

}  // namespace idlewave::testing
