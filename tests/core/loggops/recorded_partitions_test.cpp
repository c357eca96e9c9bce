#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collectives/algorithms.hpp"
#include "collectives/pattern.hpp"
#include "interleaved_ranks.hpp"
#include "loggops/simulation.hpp"
#include "outcome.hpp"
#include "pdes/communication_matrix.hpp"
#include "random_schedule.hpp"
#include "records.hpp"
#include "trials.hpp"
#include "written_out.hpp"

namespace idlewave::loggops {
namespace {

using testing::Dice;
using testing::Recorded;

/// The record of a simulation in one loop; none of a schedule that stands still.
std::optional<Recorded> in_one_loop(const goal::Graph& graph, const machine::Machine& machine, std::uint64_t seed,
                                    const RecordingScope& scope = {}) {
    Recorder recorder(graph.ranks(), scope);
    try {
        auto found = simulate(graph, machine, {.seed = seed, .threads = 1, .poll = {}}, recorder);
        return Recorded{std::move(found.finish), recorder.take()};
    } catch (const Standstill&) {
        return std::nullopt;
    }
}

Recorded partitioned(const goal::Graph& graph, const machine::Machine& machine, std::uint64_t seed,
                     const pdes::RunConfiguration& configuration, const RecordingScope& scope = {},
                     pdes::RunStatistics* statistics = nullptr) {
    Recorder recorder(graph.ranks(), scope);
    auto found = simulate_partitioned(graph, machine, seed, configuration, recorder);
    if (statistics != nullptr) {
        *statistics = std::move(found.statistics);
    }
    return {std::move(found.found.finish), recorder.take()};
}

/// The record of partitions that take turns as dice decide. Adds the events that were rolled back.
Recorded interleaved(const goal::Graph& graph, const machine::Machine& machine, std::uint64_t seed, std::uint32_t count,
                     bool lazy, const RecordingScope& scope, std::uint64_t& rolled_back) {
    Recorder recorder(graph.ranks(), scope);
    auto found = testing::interleaved_ranks(graph, machine, seed, count, lazy, recorder);
    rolled_back += found.statistics.rolled_back;
    return {std::move(found.finish), recorder.take()};
}

/// A part of the ranks and times in every third run.
RecordingScope scope_of(std::uint64_t seed) {
    return seed % 3 == 0 ? RecordingScope{.first = 1, .last = 3, .from = 50, .until = 400} : RecordingScope{};
}

TEST(RecordedPartitions, HaveTheRecordOfOneLoopAfterRollbacks) {
    std::uint64_t rolled_back = 0;
    std::uint64_t ended = 0;
    for (std::uint64_t seed = 0; seed < testing::trials(1500); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(6), 1 + dice.small(60));
        const RecordingScope scope = scope_of(seed);
        const auto one = in_one_loop(graph, machine, seed, scope);
        if (!one) {
            continue;
        }
        ++ended;
        ASSERT_TRUE(interleaved(graph, machine, seed, 1 + dice.small(4), seed % 2 == 0, scope, rolled_back) == *one)
            << "seed " << seed;
    }
    EXPECT_GT(ended, testing::trials(700));
    EXPECT_GE(rolled_back, testing::trials(50));
}

TEST(RecordedPartitions, UndoARankAndRecordTheSameTwice) {
    for (std::uint64_t seed = 0; seed < testing::trials(500); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(6), 1 + dice.small(60));
        if (const auto one = in_one_loop(graph, machine, seed, scope_of(seed))) {
            pdes::RunConfiguration configuration;
            configuration.scheduler = "check";
            ASSERT_TRUE(partitioned(graph, machine, seed, configuration, scope_of(seed)) == *one) << "seed " << seed;
        }
    }
}

TEST(RecordedPartitions, HaveTheRecordOfOneLoopOnAnyNumberOfThreads) {
    for (std::uint64_t seed = 0; seed < testing::trials(300); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 1 + dice.small(6), 1 + dice.small(60));
        const auto one = in_one_loop(graph, machine, seed);
        for (const std::string_view scheduler : {"yawns", "timewarp"}) {
            pdes::RunConfiguration configuration;
            configuration.scheduler = scheduler;
            configuration.lazy_cancellation = scheduler == "timewarp" && dice.one_in(2);
            configuration.threads = 1 + dice.small(3);
            configuration.placement_kind = dice.one_in(2) ? pdes::PlacementKind::cyclic : pdes::PlacementKind::block;
            if (one) {
                ASSERT_TRUE(partitioned(graph, machine, seed, configuration) == *one) << "seed " << seed;
            } else {
                ASSERT_THROW(partitioned(graph, machine, seed, configuration), Standstill) << "seed " << seed;
            }
        }
    }
}

/// A machine whose messages above 64 bytes go by rendezvous, with noise.
machine::Machine machine_with_noise() {
    machine::Machine machine = testing::simple_machine(2'500'000, 1'500'000, 1'000'000, 6000, 0);
    machine.network.S = 64;
    machine.noise = machine::NoiseTrace({{0, 40'000'000}, {700'000'000, 3'000'000}}, 1'000'000'000,
                                        idlewave::machine::Phase::random);
    return machine;
}

TEST(RecordedPartitions, OfCollectivesUnderNoiseHaveTheRecordOfOneLoopAfterRollbacks) {
    std::uint64_t rolled_back = 0;
    for (const auto& [collective, name] : {std::pair(collectives::Collective::barrier, "dissemination"),
                                           std::pair(collectives::Collective::allreduce, "recursive_doubling"),
                                           std::pair(collectives::Collective::alltoall, "pairwise")}) {
        const goal::Graph graph = testing::written_out(pattern(collectives::algorithm(collective, name), 64, 8, 0));
        const auto one = in_one_loop(graph, machine_with_noise(), 3);
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            const auto count = static_cast<std::uint32_t>(2 + seed % 4);
            ASSERT_TRUE(interleaved(graph, machine_with_noise(), 3, count, seed % 2 == 0, {}, rolled_back) == *one)
                << name << ", seed " << seed;
        }
    }
    EXPECT_GT(rolled_back, 500U);
}

TEST(RecordedPartitions, TheRecordMigratesWithItsRank) {
    for (const auto& [collective, name, ranks, size] :
         {std::tuple(collectives::Collective::allreduce, "ring", 60U, 100'000U),
          std::tuple(collectives::Collective::alltoall, "linear", 40U, 1000U),
          std::tuple(collectives::Collective::gather, "linear", 300U, 8U)}) {
        const goal::Graph graph =
            testing::written_out(pattern(collectives::algorithm(collective, name), ranks, size, 0));
        const auto one = in_one_loop(graph, machine_with_noise(), 7);
        for (const auto scheduler : {"yawns", "timewarp"}) {
            pdes::RunConfiguration configuration;
            configuration.scheduler = scheduler;
            configuration.threads = 3;
            configuration.migrate_after = 20;
            configuration.choose_placement = [groups = pdes::CommunicationMatrix::groups_of(ranks)](
                                                 const std::vector<std::uint64_t>& /*between*/,
                                                 std::uint32_t partitions) {
                std::vector<std::uint32_t> table(groups);
                for (std::uint32_t group = 0; group < groups; ++group) {
                    table[group] = (group * 7 + 1) % partitions;
                }
                return table;
            };
            pdes::RunStatistics statistics;
            ASSERT_TRUE(partitioned(graph, machine_with_noise(), 7, configuration, {}, &statistics) == *one) << name;
            EXPECT_GT(statistics.segments, 1U) << name;
        }
    }
}

TEST(RecordedPartitions, GoOnFromCheckpoints) {
    const std::string directory = ::testing::TempDir() + "idlewave-recorded-partitions";
    std::uint64_t restarts = 0;
    const auto messages = static_cast<std::uint32_t>(800 / testing::stride(4));
    for (std::uint64_t seed = 0; seed < testing::trials(60); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(6), messages);
        const auto one = in_one_loop(graph, machine, seed);
        if (!one) {
            continue;
        }
        std::filesystem::remove_all(directory);
        pdes::RunConfiguration configuration;
        configuration.scheduler = seed % 3 == 0 ? "yawns" : seed % 3 == 1 ? "timewarp" : "check";
        configuration.threads = seed % 3 == 2 ? 1 : 1 + dice.small(3);
        configuration.checkpoint = {.directory = directory, .description = "random", .interval = 0};
        pdes::RunStatistics statistics;
        const RecordingScope scope{.most_bytes = 1 << 22};  // rows that moved away no longer count
        ASSERT_TRUE(partitioned(graph, machine, seed, configuration, scope, &statistics) == *one) << "seed " << seed;
        if (statistics.segments > 1) {
            ++restarts;
            configuration.scheduler = seed % 2 == 0 ? "timewarp" : "check";
            configuration.threads = seed % 2 == 0 ? 1 + dice.small(3) : 1;
            configuration.checkpoint.restart = true;
            ASSERT_TRUE(partitioned(graph, machine, seed, configuration, scope) == *one) << "seed " << seed;
        }
    }
    EXPECT_GE(restarts, testing::trials(10));
}

}  // namespace
}  // namespace idlewave::loggops
