#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "models/phold.hpp"
#include "pdes/run_events.hpp"

namespace idlewave::testing {

/// A directory that is empty, for one test.
inline std::string fresh_directory() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = ::testing::TempDir() + "idlewave-" + test->name();
    std::filesystem::remove_all(name);
    return name;
}

template <class M>
pdes::EventRun run(const M& written, const pdes::EventRunOptions& options) {
    return pdes::run_events(written, options, [](std::uint32_t /*lp*/, const typename M::State& /*state*/) {});
}

/// Compiled once (phold_runs.cpp), since many tests run it and each time it takes a compiler half a minute.
extern template pdes::EventRun run(const Phold&, const pdes::EventRunOptions&);

inline PholdParameters phold_of(std::uint32_t lps, Time end) {
    PholdParameters parameters;
    parameters.lps = lps;
    parameters.remote = 0.3;
    parameters.start_events = 4;
    parameters.end = end;
    return parameters;
}

/// Ways to run that give the same: all that runs in legs.
inline std::vector<pdes::EventRunOptions> ways() {
    std::vector<pdes::EventRunOptions> ways;
    for (const auto scheduler : {pdes::Scheduler::sequential, pdes::Scheduler::yawns, pdes::Scheduler::timewarp}) {
        for (const std::uint32_t threads : {1U, 2U, 3U}) {
            if (threads == 1 || scheduler != pdes::Scheduler::sequential) {
                pdes::EventRunOptions& way = ways.emplace_back();
                way.scheduler = scheduler;
                way.lazy = threads == 2;
                way.crew.threads = threads;
            }
        }
    }
    return ways;
}

/// A walk that draws, puts out words, and keeps a sum elsewhere than in its state.
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
    static constexpr bool saves = true;

    [[nodiscard]] static std::uint32_t lps() { return count; }
    [[nodiscard]] static Time lookahead() { return 100; }
    [[nodiscard]] static std::uint64_t seed() { return 4; }

    template <class Situation>
    void start(State& /*state*/, Situation& situation) const {
        situation.send(situation.self(), 0, Payload{600});
    }

    template <class Situation>
    void handle(State& state, const Payload& payload, Situation& situation) const {
        const Philox bits = situation.draws();
        situation.save(state);
        situation.save(sums[situation.self()]);
        ++state.handled;
        state.digest = sums[situation.self()] += bits[0] ^ static_cast<std::uint64_t>(situation.now());
        if (bits[3] % 16 == 0) {
            situation.emit(Record{state.digest});
        }
        if (payload.hops > 0) {
            situation.send(static_cast<std::uint32_t>(below(count, bits[1])), 100 + static_cast<Time>(bits[2] % 100),
                           Payload{payload.hops - 1});
        }
    }

    template <class Archive>
    void keep(std::uint32_t lp, Archive& archive) const {
        archive(sums[lp]);
    }

    mutable std::vector<std::uint64_t> sums = std::vector<std::uint64_t>(count);
};

}  // namespace idlewave::testing
