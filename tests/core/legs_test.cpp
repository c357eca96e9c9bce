#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "event_runs.hpp"
#include "models/phold.hpp"
#include "pdes/balance.hpp"
#include "pdes/run_events.hpp"

namespace idlewave {
namespace {

/// A directory that is empty, for one test.
std::string fresh_directory() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = ::testing::TempDir() + "idlewave-" + test->name();
    std::filesystem::remove_all(name);
    return name;
}

template <class M>
pdes::EventRun run(const M& written, const pdes::EventRunOptions& options) {
    return pdes::run_events(written, options, [](std::uint32_t /*lp*/, const typename M::State& /*state*/) {});
}

PholdParameters phold_of(std::uint32_t lps, Time end) {
    PholdParameters parameters;
    parameters.lps = lps;
    parameters.remote = 0.3;
    parameters.start_events = 4;
    parameters.end = end;
    return parameters;
}

/// Ways to run that give the same: all that runs in legs.
std::vector<pdes::EventRunOptions> ways() {
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

TEST(Legs, ARunThatIsKeptAllTheTimeGivesTheSame) {
    const Phold phold(phold_of(100, 400'000'000));
    const pdes::EventRun whole = run(phold, {});
    for (pdes::EventRunOptions way : ways()) {
        way.crew.keeping = {.directory = fresh_directory(), .run = "phold", .every = 0};
        const pdes::EventRun kept = run(phold, way);
        ASSERT_GT(kept.counted.legs, 2U) << "or it never paused";
        ASSERT_EQ(kept.digest, whole.digest);
        ASSERT_EQ(kept.counted.statistics.committed, whole.counted.statistics.committed);
    }
}

/// Ends a run a little after its first checkpoint.
struct CutOff {};
std::function<void(Time)> cut_off(const std::string& directory) {
    return [directory, left = 3](Time /*now*/) mutable {
        if (std::filesystem::exists(directory + "/latest") && --left == 0) {
            throw CutOff();
        }
    };
}

TEST(Legs, ARunThatWasCutOffGoesOnFromItsLastCheckpointInAnyOtherWay) {
    const Phold phold(phold_of(100, 400'000'000));
    const pdes::EventRun whole = run(phold, {});
    const std::string directory = fresh_directory();
    for (const pdes::EventRunOptions& first : ways()) {
        for (pdes::EventRunOptions second : ways()) {
            std::filesystem::remove_all(directory);
            pdes::EventRunOptions cut = first;
            cut.crew.keeping = {.directory = directory, .run = "phold", .every = 0};
            cut.crew.poll = cut_off(directory);
            ASSERT_THROW(run(phold, cut), CutOff);
            second.crew.keeping = {.directory = directory, .run = "phold", .every = 0.02, .restart = true};
            const pdes::EventRun rest = run(phold, second);
            ASSERT_EQ(rest.digest, whole.digest);
            ASSERT_EQ(rest.counted.statistics.committed, whole.counted.statistics.committed);
        }
    }
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

TEST(Legs, WhatWasPutOutAndWhatIsKeptElsewhereGoesAlong) {
    using Output = std::vector<std::tuple<std::uint32_t, Time, std::uint64_t>>;
    const auto output_of = [](std::uint32_t threads, const pdes::Keeping& keeping) {
        const Wordy written;
        pdes::ByEvent<Wordy, false> model(written);
        pdes::Crew crew;
        crew.threads = threads;
        crew.keeping = keeping;
        Output output;
        pdes::Legs<pdes::ByEvent<Wordy, false>> legs(model, pdes::Placement::cyclic(Wordy::count, threads),
                                                     {.cell = 100}, crew);
        const pdes::Counted counted = legs.run([&](auto& partitions) {
            partitions.each_emitted(
                [&](const auto& emitted) { output.emplace_back(emitted.lp, emitted.time, emitted.record.word); });
        });
        std::stable_sort(output.begin(), output.end(),
                         [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
        return std::pair(output, counted.legs);
    };
    const Output whole = output_of(1, {}).first;
    ASSERT_GT(whole.size(), 1000U);
    for (const std::uint32_t threads : {1U, 2U, 3U}) {
        const auto [kept, legs] = output_of(threads, {.directory = fresh_directory(), .run = "wordy", .every = 0});
        EXPECT_GT(legs, 2U);
        EXPECT_EQ(kept, whole);
    }
}

/// Tells nobody but itself what its LPs put out.
struct Listening : Wordy {
    void commit(std::uint32_t lp, Time time, const Record& record) const { heard[lp].emplace_back(time, record.word); }

    mutable std::vector<std::vector<std::pair<Time, std::uint64_t>>> heard =
        std::vector<std::vector<std::pair<Time, std::uint64_t>>>(count);
};

TEST(Legs, AModelIsToldWhatItsLpsPutOutOnceAndInTheirOrderWhenItIsCertain) {
    const Listening alone;
    run(alone, {});
    std::size_t words = 0;
    for (const auto& own : alone.heard) {
        words += own.size();
        EXPECT_TRUE(std::is_sorted(own.begin(), own.end(), [](auto& a, auto& b) { return a.first < b.first; }));
    }
    ASSERT_GT(words, 1000U);
    for (const pdes::EventRunOptions& way : ways()) {
        const Listening listening;
        run(listening, way);
        EXPECT_EQ(listening.heard, alone.heard);
    }
    std::uint64_t rolled_back = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Listening listening;
        rolled_back += testing::partitioned<false>(listening, pdes::Placement::cyclic(Wordy::count, 3), {.cell = 100},
                                                   testing::in_turns(seed, 3))
                           .statistics.rolled_back;
        ASSERT_EQ(listening.heard, alone.heard) << "seed " << seed;
    }
    EXPECT_GT(rolled_back, 1000U);
}

TEST(Legs, WithoutALookaheadARunGoesOnFromACheckpoint) {
    PholdParameters parameters = phold_of(100, 200'000'000);
    parameters.lookahead = 0;
    const Phold phold(parameters);
    const pdes::EventRun whole = run(phold, {});
    const std::string directory = fresh_directory();
    for (const std::uint32_t threads : {1U, 2U, 3U}) {
        std::filesystem::remove_all(directory);
        pdes::EventRunOptions way;
        way.scheduler = pdes::Scheduler::timewarp;
        way.crew.threads = threads;
        way.crew.keeping = {.directory = directory, .run = "phold", .every = 0};
        way.crew.poll = cut_off(directory);
        ASSERT_THROW(run(phold, way), CutOff);
        way.crew.poll = {};
        way.crew.threads = 4 - threads;
        way.crew.keeping.restart = true;
        EXPECT_EQ(run(phold, way).digest, whole.digest);
    }
}

/// What a restart says where it cannot be.
std::string refusal(const std::string& directory, const std::string& name) {
    pdes::EventRunOptions way;
    way.crew.keeping = {.directory = directory, .run = name, .restart = true};
    try {
        run(Phold(phold_of(100, 20'000'000)), way);
    } catch (const InputError& error) {
        return error.what();
    }
    return "it went on";
}

TEST(Legs, ACheckpointThatIsDamagedMissingOrOfAnotherRunIsRefused) {
    const std::string directory = fresh_directory();
    EXPECT_NE(refusal(directory, "phold").find("there is no checkpoint"), std::string::npos);
    pdes::EventRunOptions way;
    way.crew.keeping = {.directory = directory, .run = "phold", .every = 0};
    run(Phold(phold_of(100, 20'000'000)), way);
    EXPECT_THROW(run(Phold(phold_of(100, 20'000'000)), way), InputError) << "nothing that was kept is written over";
    EXPECT_EQ(refusal(directory, "phold"), "it went on");
    EXPECT_NE(refusal(directory, "phold of 3 LPs").find("it is of another run:\n  phold, by Idlewave"),
              std::string::npos);
    std::filesystem::path file;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        file = entry.path().filename() == "latest" ? file : entry.path();
    }
    const auto size = std::filesystem::file_size(file);
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{9}, size / 3, size / 2, size - 1}) {
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekg(static_cast<std::streamoff>(at));
        const int byte = bytes.get();
        bytes.seekp(static_cast<std::streamoff>(at));
        bytes.put(static_cast<char>(byte ^ 1));
        bytes.close();
        EXPECT_NE(refusal(directory, "phold").find(file.string()), std::string::npos) << "byte " << at;
        bytes.open(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(static_cast<std::streamoff>(at));
        bytes.put(static_cast<char>(byte));
    }
    EXPECT_EQ(refusal(directory, "phold"), "it went on");
    for (std::uint64_t shorter = size; shorter > 0; shorter -= std::min<std::uint64_t>(shorter, 1 + size / 200)) {
        std::filesystem::resize_file(file, shorter - 1);
        EXPECT_NE(refusal(directory, "phold").find(file.string()), std::string::npos) << shorter - 1 << " bytes";
    }
    std::filesystem::remove(file);
    EXPECT_NE(refusal(directory, "phold").find("cannot be read as a checkpoint"), std::string::npos);
}

/// Where each part of a file of a checkpoint ends.
std::vector<std::uint64_t> ends_of_parts(const std::filesystem::path& file) {
    constexpr std::uint64_t begin = 12;
    constexpr std::uint64_t head = 16;
    std::vector<std::uint64_t> ends;
    std::ifstream bytes(file, std::ios::binary);
    for (std::uint64_t at = begin; at < std::filesystem::file_size(file); at = ends.back()) {
        std::uint64_t size = 0;
        bytes.seekg(static_cast<std::streamoff>(at));
        bytes.read(reinterpret_cast<char*>(&size), sizeof size);
        ends.push_back(at + head + size);
    }
    return ends;
}

TEST(Legs, ACheckpointThatEndsBetweenTwoPartsIsRefused) {
    const std::string directory = fresh_directory();
    pdes::EventRunOptions way;
    way.scheduler = pdes::Scheduler::yawns;
    way.crew.threads = 3;
    way.crew.keeping = {.directory = directory, .run = "phold", .every = 0};
    run(Phold(phold_of(100, 20'000'000)), way);
    std::filesystem::path file;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        file = entry.path().filename() == "latest" ? file : entry.path();
    }
    std::vector<std::uint64_t> ends = ends_of_parts(file);
    ASSERT_EQ(ends.back(), std::filesystem::file_size(file));
    ASSERT_GT(ends.size(), 3U);
    for (ends.pop_back(); !ends.empty(); ends.pop_back()) {
        std::filesystem::resize_file(file, ends.back());
        EXPECT_NE(refusal(directory, "phold").find("damaged at byte"), std::string::npos);
    }
}

/// A tenth of the LPs have nearly all events.
struct Uneven {
    struct State {
        std::uint64_t handled = 0;
        std::uint64_t digest = 0;
    };
    struct Payload {
        bool operator==(const Payload&) const = default;
    };

    [[nodiscard]] static std::uint32_t lps() { return 1000; }
    [[nodiscard]] static Time lookahead() { return 1000; }
    [[nodiscard]] static std::uint64_t seed() { return 4; }

    template <class Situation>
    static void start(State& /*state*/, Situation& situation) {
        for (int i = 0; i < (situation.self() < 100 ? 20 : 1); ++i) {
            situation.send(situation.self(), 0, {});
        }
    }

    template <class Situation>
    static void handle(State& state, const Payload& /*payload*/, Situation& situation) {
        ++state.handled;
        state.digest = (state.digest ^ static_cast<std::uint64_t>(situation.now())) * 0x9e3779b97f4a7c15U;
        const Time delay = 1000 + static_cast<Time>(situation.draws()[0] % 4000);
        if (situation.now() < 1'000'000) {
            situation.send(situation.self(), delay, {});
        }
    }
};

TEST(Legs, LpsMoveToWhereThereAreFewerEventsAndTheAnswerStays) {
    const pdes::EventRun whole = run(Uneven{}, {});
    for (pdes::EventRunOptions way : ways()) {
        way.crew.migrate_after = 50'000;
        way.crew.pin = true;
        const pdes::EventRun moved = run(Uneven{}, way);
        EXPECT_EQ(moved.digest, whole.digest);
        EXPECT_EQ(moved.counted.statistics.committed, whole.counted.statistics.committed);
        EXPECT_EQ(moved.counted.legs, way.crew.threads == 1 ? 1U : 2U) << "once, and then they are even";
    }
}

/// LPs that tell those with the same remainder by 3 alone.
struct Cliques {
    struct State {
        std::uint64_t handled = 0;
        std::uint64_t digest = 0;
    };
    struct Payload {
        bool operator==(const Payload&) const = default;
    };

    [[nodiscard]] static std::uint32_t lps() { return 90; }
    [[nodiscard]] static Time lookahead() { return 1000; }
    [[nodiscard]] static std::uint64_t seed() { return 4; }

    template <class Situation>
    static void start(State& /*state*/, Situation& situation) {
        situation.send(situation.self(), 0, {});
    }

    template <class Situation>
    static void handle(State& state, const Payload& /*payload*/, Situation& situation) {
        ++state.handled;
        state.digest = (state.digest ^ static_cast<std::uint64_t>(situation.now())) * 0x9e3779b97f4a7c15U;
        const Philox bits = situation.draws();
        if (situation.now() < 1'000'000) {
            situation.send(static_cast<std::uint32_t>(situation.self() % 3 + 3 * below(30, bits[0])),
                           1000 + static_cast<Time>(bits[1] % 1000), {});
        }
    }
};

TEST(Legs, LpsMoveToWhereWhoTellsWhomSaysAndTheAnswerStays) {
    const pdes::EventRun whole = run(Cliques{}, {});
    for (const std::uint32_t threads : {2U, 3U}) {
        pdes::EventRunOptions way;
        way.scheduler = pdes::Scheduler::timewarp;
        way.crew.threads = threads;
        way.crew.migrate_after = 5'000;
        std::uint64_t apart = 0;
        way.crew.place = [&](const std::vector<std::uint64_t>& between, std::uint32_t partitions) {
            std::vector<std::uint32_t> table;
            for (std::uint32_t group = 0; group < 90; ++group) {
                for (std::uint32_t other = 0; other < 90; ++other) {
                    apart += group % 3 == other % 3 ? 0 : between[90 * group + other];
                }
                table.push_back(group % 3 % partitions);
            }
            EXPECT_GT(std::accumulate(between.begin(), between.end(), std::uint64_t{0}), 5'000U);
            return table;
        };
        const pdes::EventRun moved = run(Cliques{}, way);
        EXPECT_EQ(apart, 0U) << "they tell nobody else";
        EXPECT_EQ(moved.digest, whole.digest);
        EXPECT_EQ(moved.counted.legs, 2U);
        if (threads == 3) {
            EXPECT_LT(moved.counted.statistics.told_elsewhere, whole.counted.statistics.committed / 4)
                << "nothing, once they have moved";
        }
    }
}

TEST(Legs, ABalancedPlacementGivesAllPartitionsAboutAsManyEvents) {
    std::vector<std::uint64_t> weights(1000, 1);
    std::fill_n(weights.begin(), 100, 20);
    for (const std::uint32_t partitions : {1U, 2U, 3U, 7U, 1000U, 3000U}) {
        const pdes::Placement placement = pdes::balanced(weights, 1000, partitions);
        std::uint32_t placed = 0;
        for (std::uint32_t p = 0; p < partitions; ++p) {
            std::uint64_t weight = 0;
            for (std::uint32_t i = 0; i < placement.size(p); ++i, ++placed) {
                const auto place = placement.of(placement.lp_of(p, i));
                ASSERT_EQ(std::pair(place.partition, place.local), std::pair(p, i));
                weight += weights[placement.lp_of(p, i)];
            }
            EXPECT_LE(weight, 2900 / partitions + 20);
        }
        ASSERT_EQ(placed, 1000U);
    }
}

TEST(Legs, AShareOfLpsIsConservativeAsItIsAskedFor) {
    for (const double share : {0.0, 0.1, 0.5, 1.0}) {
        const MixedPhold phold(phold_of(10'000, 1), share);
        std::uint32_t conservative = 0;
        for (std::uint32_t lp = 0; lp < phold.lps(); ++lp) {
            conservative += phold.conservative(lp) ? 1 : 0;
        }
        EXPECT_NEAR(conservative, share * phold.lps(), 10);
    }
}

TEST(Legs, ConservativeLpsAmongOptimisticOnesGiveTheSameAndAreNeverRolledBack) {
    const Phold phold(phold_of(90, 30'000'000));
    const auto one = testing::one_by_one<false>(phold);
    std::uint64_t rolled_back = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto partitions = static_cast<std::uint32_t>(1 + seed % 4);
        const auto found = testing::partitioned<false>(
            MixedPhold(phold_of(90, 30'000'000), 0.5), pdes::Placement::block(90, partitions),
            {.cell = phold.lookahead(), .lazy = seed % 2 == 0}, testing::in_turns(seed, partitions));
        for (std::uint32_t lp = 0; lp < 90; ++lp) {
            ASSERT_EQ(found.states[lp].digest, one[lp].digest) << "seed " << seed << ", LP " << lp;
        }
        rolled_back += found.statistics.rolled_back;
    }
    EXPECT_GT(rolled_back, 1000U) << "the others go ahead";
}

/// Counts what the conservative ones handle, undone or not.
struct Strict : Wordy {
    [[nodiscard]] static bool conservative(std::uint32_t lp) { return lp < 59; }
    template <class Situation>
    void handle(State& state, const Payload& payload, Situation& situation) const {
        Wordy::handle(state, payload, situation);
        handled += situation.self() < 59 ? 1U : 0U;
    }
    mutable std::atomic<std::uint64_t> handled = 0;
};

TEST(Legs, ConservativeLpsAreNeverAskedToUndo) {
    const Strict strict;
    const auto found = testing::partitioned<false>(strict, pdes::Placement::cyclic(Wordy::count, 3), {.cell = 100},
                                                   testing::in_turns(5, 3));
    std::uint64_t committed = 0;
    for (std::uint32_t lp = 0; lp < 59; ++lp) {
        committed += found.states[lp].handled;
    }
    EXPECT_EQ(strict.handled.load(), committed);
}

TEST(Legs, ConservativeLpsNeedALookahead) {
    PholdParameters parameters = phold_of(10, 1'000'000);
    parameters.lookahead = 0;
    pdes::EventRunOptions way;
    way.scheduler = pdes::Scheduler::timewarp;
    EXPECT_THROW(run(MixedPhold(parameters, 0.5), way), InputError);
}

/// One LP tells all others something at the very beginning, and these have long gone on.
struct LateWord {
    struct State {
        std::uint64_t handled = 0;
        std::uint64_t digest = 0;
    };
    struct Payload {
        std::uint32_t word = 0;

        bool operator==(const Payload&) const = default;
    };
    static constexpr Time step = 100;

    [[nodiscard]] static std::uint32_t lps() { return 20; }
    [[nodiscard]] static Time lookahead() { return step; }
    [[nodiscard]] static std::uint64_t seed() { return 4; }

    template <class Situation>
    static void start(State& /*state*/, Situation& situation) {
        situation.send(situation.self(), situation.self() == 0 ? step : 2 * step, Payload{0});
    }

    template <class Situation>
    static void handle(State& state, const Payload& payload, Situation& situation) {
        ++state.handled;
        state.digest = philox({state.digest, payload.word, static_cast<std::uint64_t>(situation.now()), 0}, {1, 2})[0];
        if (situation.self() == 0) {
            for (std::uint32_t lp = 1; lp < lps(); ++lp) {
                situation.send(lp, step, Payload{lp});
            }
        } else if (payload.word == 0 && situation.now() < 30 * step) {
            situation.send(situation.self(), step, Payload{0});
        }
    }
};

TEST(Legs, AllIsUndoneBackToTheStartIfSomethingComesForThere) {
    const auto one = testing::one_by_one<false>(LateWord{});
    std::vector<std::uint32_t> table(20, 1);
    table[0] = 0;
    const auto found = testing::partitioned<false>(
        LateWord{}, pdes::Placement::table(table, 2), {.cell = LateWord::step}, [](auto& partitions) {
            // The second partition goes as far as it may before the first one takes its first step.
            std::uint32_t steps = 0;
            partitions.run_in_turns([&] { return ++steps < 200 ? 1U : steps % 2; });
        });
    for (std::uint32_t lp = 0; lp < 20; ++lp) {
        EXPECT_EQ(found.states[lp].digest, one[lp].digest);
    }
    EXPECT_GE(found.statistics.rolled_back, 19U * 3) << "all that the others had done since their first event";
}

TEST(Legs, GvtNeverGoesBackAndWhatIsCommittedGrows) {
    pdes::EventRunOptions way;
    way.scheduler = pdes::Scheduler::timewarp;
    way.crew.threads = 3;
    const pdes::EventRun found = run(Phold(phold_of(300, 100'000'000)), way);
    const std::vector<pdes::Sample>& series = found.counted.series;
    ASSERT_GT(series.size(), 20U);
    for (std::size_t i = 1; i < series.size(); ++i) {
        EXPECT_GE(series[i].gvt, series[i - 1].gvt);
        EXPECT_GE(series[i].seconds, series[i - 1].seconds);
        EXPECT_GE(series[i].committed, series[i - 1].committed);
        EXPECT_GE(series[i].rolled_back, series[i - 1].rolled_back);
    }
    EXPECT_LE(series.back().committed, found.counted.statistics.committed);
}

}  // namespace
}  // namespace idlewave
