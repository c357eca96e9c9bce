#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/pattern.hpp"
#include "interleaved_ranks.hpp"
#include "loggops/simulation.hpp"
#include "outcome.hpp"
#include "pdes/communication_matrix.hpp"
#include "random_schedule.hpp"
#include "trials.hpp"

namespace idlewave::loggops {
namespace {

using testing::Dice;
using testing::Outcome;

/// What a simulation without an observer says: finish times, messages, or a standstill.
bool alike(const Outcome& a, const Outcome& b) {
    return a.finish == b.finish && a.messages == b.messages && a.standstill == b.standstill;
}

template <goal::Source S>
Outcome in_one_window(const S& source, const machine::Machine& machine, std::uint64_t seed) {
    Outcome outcome;
    try {
        auto result = simulate(source, machine, SimulationOptions{.seed = seed, .threads = 1, .poll = {}});
        outcome.finish = std::move(result.finish);
        outcome.messages = result.messages;
    } catch (const Standstill& standstill) {
        return testing::outcome_of(standstill);
    }
    return outcome;
}

template <goal::Source S>
Outcome partitioned(const S& source, const machine::Machine& machine, std::uint64_t seed,
                    const pdes::RunConfiguration& configuration, pdes::RunStatistics* statistics = nullptr) {
    Outcome outcome;
    try {
        auto result = simulate_partitioned(source, machine, seed, configuration);
        outcome.finish = std::move(result.found.finish);
        outcome.messages = result.found.messages;
        if (statistics != nullptr) {
            *statistics = result.statistics;
        }
    } catch (const Standstill& standstill) {
        return testing::outcome_of(standstill);
    }
    return outcome;
}

/// The simulation in partitions that take turns as dice decide.
template <goal::Source S>
testing::InterleavedRanks<Time> interleaved(const S& source, const machine::Machine& machine, std::uint64_t seed,
                                            std::uint32_t count, bool lazy) {
    NoObserver observer;
    return testing::interleaved_ranks(source, machine, seed, count, lazy, observer);
}

TEST(RankPartitions, GiveTheSameWhenTheyRunFarAheadOfEachOther) {
    std::uint64_t rolled_back = 0;
    std::uint64_t ended = 0;
    for (std::uint64_t seed = 0; seed < testing::trials(1500); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(6), 1 + dice.small(60));
        const Outcome one = in_one_window(graph, machine, seed);
        if (!one.standstill.empty()) {
            continue;
        }
        ++ended;
        const std::uint32_t count = 1 + dice.small(4);
        const auto found = interleaved(graph, machine, seed, count, seed % 2 == 0);
        ASSERT_EQ(found.finish, one.finish) << "seed " << seed;
        ASSERT_EQ(found.statistics.committed, one.messages) << "seed " << seed;
        rolled_back += found.statistics.rolled_back;
    }
    EXPECT_GT(ended, testing::trials(700));
    EXPECT_GE(rolled_back, testing::trials(20))
        << "messages that were sent too early; many ranks have long queues, and are conservative";
}

TEST(RankPartitions, UndoAllThatARankDidAndDoTheSameTwice) {
    for (std::uint64_t seed = 0; seed < testing::trials(700); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(6), 1 + dice.small(60));
        const Outcome one = in_one_window(graph, machine, seed);
        pdes::RunConfiguration configuration;
        configuration.scheduler = "check";
        ASSERT_TRUE(alike(partitioned(graph, machine, seed, configuration), one)) << "seed " << seed;
    }
}

TEST(RankPartitions, GiveTheSameOnAnyNumberOfThreadsStandstillsIncluded) {
    for (std::uint64_t seed = 0; seed < testing::trials(300); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 1 + dice.small(6), 1 + dice.small(60));
        const Outcome one = in_one_window(graph, machine, seed);
        for (const auto scheduler : {"yawns", "timewarp"}) {
            pdes::RunConfiguration configuration;
            configuration.scheduler = scheduler;
            configuration.threads = 1 + dice.small(3);
            configuration.placement_kind = dice.one_in(2) ? pdes::PlacementKind::cyclic : pdes::PlacementKind::block;
            ASSERT_TRUE(alike(partitioned(graph, machine, seed, configuration), one)) << "seed " << seed;
        }
    }
}

/// A machine whose messages above 64 bytes go by rendezvous, with noise.
machine::Machine noisy_machine() {
    machine::Machine machine = testing::simple_machine(2'500'000, 1'500'000, 1'000'000, 6000, 0);
    machine.network.S = 64;
    machine.noise = machine::NoiseTrace({{0, 40'000'000}, {700'000'000, 3'000'000}}, 1'000'000'000,
                                        idlewave::machine::Phase::random);
    return machine;
}

TEST(RankPartitions, OfCollectivesUnderNoiseGiveTheSameWhenTheyRunFarAheadOfEachOther) {
    std::uint64_t rolled_back = 0;
    for (const auto& [collective, name] : {std::pair(collectives::Collective::barrier, "dissemination"),
                                           std::pair(collectives::Collective::allreduce, "recursive_doubling"),
                                           std::pair(collectives::Collective::bcast, "binomial"),
                                           std::pair(collectives::Collective::alltoall, "pairwise")}) {
        const auto source = pattern(collectives::algorithm(collective, name), 64, 8, 0);
        const Outcome one = in_one_window(source, noisy_machine(), 3);
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const auto count = static_cast<std::uint32_t>(2 + seed % 4);
            const auto found = interleaved(source, noisy_machine(), 3, count, seed % 2 == 0);
            ASSERT_EQ(found.finish, one.finish) << name << ", seed " << seed;
            rolled_back += found.statistics.rolled_back;
        }
    }
    EXPECT_GT(rolled_back, 1000U);
}

TEST(RankPartitions, GoOnFromCheckpointsAmidstRendezvousAndLongQueues) {
    const machine::Machine machine = noisy_machine();
    const std::string directory = ::testing::TempDir() + "idlewave-rank-partitions";
    int restarts = 0;
    for (const auto& [collective, name, ranks, size] :
         {std::tuple(collectives::Collective::barrier, "dissemination", 3000U, 1U),
          std::tuple(collectives::Collective::alltoall, "linear", 60U, 8U),
          std::tuple(collectives::Collective::alltoall, "linear", 40U, 1000U),
          std::tuple(collectives::Collective::gather, "linear", 700U, 8U),
          std::tuple(collectives::Collective::gather, "linear", 300U, 1000U),
          std::tuple(collectives::Collective::allreduce, "ring", 100U, 100'000U)}) {
        const auto source = pattern(collectives::algorithm(collective, name), ranks, size, 0);
        const Outcome one = in_one_window(source, machine, 7);
        for (const auto scheduler : {"yawns", "timewarp"}) {
            std::filesystem::remove_all(directory);
            pdes::RunConfiguration configuration;
            configuration.scheduler = scheduler;
            configuration.threads = 2;
            configuration.checkpoint = {.directory = directory, .description = name, .interval = 0};
            ASSERT_TRUE(alike(partitioned(source, machine, 7, configuration), one)) << name;
            if (!std::filesystem::exists(directory + "/latest")) {
                continue;
            }
            ++restarts;
            configuration.threads = 3;
            configuration.placement_kind = pdes::PlacementKind::cyclic;
            configuration.checkpoint.restart = true;
            ASSERT_TRUE(alike(partitioned(source, machine, 7, configuration), one))
                << name << ", from its last checkpoint";
        }
    }
    EXPECT_GT(restarts, 5);
}

TEST(RankPartitions, RanksMoveWithTheirRendezvousAndLongQueuesAndTheAnswerStays) {
    for (const auto& [collective, name, ranks, size] :
         {std::tuple(collectives::Collective::allreduce, "ring", 100U, 100'000U),
          std::tuple(collectives::Collective::alltoall, "linear", 60U, 1000U),
          std::tuple(collectives::Collective::gather, "linear", 700U, 100'000U)}) {
        const auto source = pattern(collectives::algorithm(collective, name), ranks, size, 0);
        const Outcome one = in_one_window(source, noisy_machine(), 7);
        for (const auto scheduler : {"yawns", "timewarp"}) {
            pdes::RunConfiguration configuration;
            configuration.scheduler = scheduler;
            configuration.threads = 3;
            configuration.migrate_after = 20;
            configuration.choose_placement = [groups = pdes::CommunicationMatrix::groups_of(ranks)](
                                                 const std::vector<std::uint64_t>& between, std::uint32_t partitions) {
                EXPECT_EQ(between.size(), std::size_t{groups} * groups);
                std::vector<std::uint32_t> table(groups);
                for (std::uint32_t group = 0; group < groups; ++group) {
                    table[group] = (group * 7 + 1) % partitions;
                }
                return table;
            };
            pdes::RunStatistics statistics;
            ASSERT_TRUE(alike(partitioned(source, noisy_machine(), 7, configuration, &statistics), one)) << name;
            EXPECT_GT(statistics.segments, 1U) << name;
        }
    }
}

TEST(RankPartitions, RandomSchedulesGoOnFromCheckpoints) {
    const std::string directory = ::testing::TempDir() + "idlewave-rank-partitions-random";
    std::uint64_t restarts = 0;
    for (std::uint64_t seed = 0; seed < testing::trials(60); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(6), 800);
        const Outcome one = in_one_window(graph, machine, seed);
        if (!one.standstill.empty()) {
            continue;
        }
        std::filesystem::remove_all(directory);
        pdes::RunConfiguration configuration;
        configuration.scheduler = seed % 2 == 0 ? "yawns" : "timewarp";
        configuration.threads = 1 + dice.small(3);
        configuration.checkpoint = {.directory = directory, .description = "random", .interval = 0};
        pdes::RunStatistics statistics;
        ASSERT_TRUE(alike(partitioned(graph, machine, seed, configuration, &statistics), one)) << "seed " << seed;
        if (statistics.segments > 1) {
            ++restarts;
            configuration.threads = 1 + dice.small(3);
            configuration.checkpoint.restart = true;
            ASSERT_TRUE(alike(partitioned(graph, machine, seed, configuration), one)) << "seed " << seed;
        }
    }
    EXPECT_GE(restarts, testing::trials(10));
}

TEST(RankPartitions, NeedALookahead) {
    const machine::Machine machine = testing::simple_machine(0, 0, 10, 0, 0);
    EXPECT_THROW(
        partitioned(pattern(collectives::algorithm(collectives::Collective::barrier, "dissemination"), 4, 1, 0),
                    machine, 0, {}),
        InputError);
}

}  // namespace
}  // namespace idlewave::loggops
