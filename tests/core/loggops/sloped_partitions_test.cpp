#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "interleaved_ranks.hpp"
#include "loggops/simulation.hpp"
#include "loggops/slopes.hpp"
#include "outcome.hpp"
#include "random_schedule.hpp"
#include "trials.hpp"

namespace idlewave::loggops {
namespace {

using testing::Dice;

bool alike(const std::vector<AllSlopes>& a, const std::vector<AllSlopes>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.time == y.time && x.has_slopes_of(y); });
}

/// The finish times of the sequential run with their slopes; none if the schedule comes to a standstill.
std::vector<AllSlopes> sequential_slopes(const goal::Graph& graph, const machine::Machine& machine,
                                         std::uint64_t seed) {
    try {
        FullDifferentiation observer;
        return simulate(graph, machine, {.seed = seed, .threads = 1, .poll = {}}, observer).finish;
    } catch (const Standstill&) {
        return {};
    }
}

TEST(SlopedPartitions, HaveTheDerivativesOfOneLoop) {
    std::uint64_t rolled_back = 0;
    std::uint64_t ended = 0;
    for (std::uint64_t seed = 0; seed < testing::trials(1000); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(6), 1 + dice.small(60));
        const auto one = sequential_slopes(graph, machine, seed);
        if (one.empty()) {
            continue;
        }
        ++ended;
        FullDifferentiation in_turns;
        const auto found = testing::interleaved_ranks(graph, machine, seed, 1 + dice.small(4), seed % 2 == 0, in_turns);
        ASSERT_TRUE(alike(one, found.finish)) << "seed " << seed;
        rolled_back += found.statistics.rolled_back;
        pdes::RunConfiguration configuration;
        configuration.scheduler = seed % 3 == 0 ? "check" : seed % 3 == 1 ? "yawns" : "timewarp";
        configuration.threads = seed % 3 == 0 ? 1 : 1 + dice.small(3);
        FullDifferentiation observer;
        ASSERT_TRUE(alike(one, simulate_partitioned(graph, machine, seed, configuration, observer).found.finish))
            << "seed " << seed;
    }
    EXPECT_GT(ended, testing::trials(400));
    EXPECT_GE(rolled_back, testing::trials(20));
}

TEST(SlopedPartitions, GoOnFromCheckpoints) {
    const std::string directory = ::testing::TempDir() + "idlewave-sloped-partitions";
    std::uint64_t restarts = 0;
    const auto messages = static_cast<std::uint32_t>(800 / testing::stride(4));
    for (std::uint64_t seed = 0; seed < testing::trials(60); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(6), messages);
        const auto one = sequential_slopes(graph, machine, seed);
        if (one.empty()) {
            continue;
        }
        std::filesystem::remove_all(directory);
        pdes::RunConfiguration configuration;
        configuration.scheduler = seed % 2 == 0 ? "yawns" : "timewarp";
        configuration.threads = 1 + dice.small(3);
        configuration.checkpoint = {.directory = directory, .description = "random", .interval = 0};
        FullDifferentiation whole;
        const auto kept = simulate_partitioned(graph, machine, seed, configuration, whole);
        ASSERT_TRUE(alike(one, kept.found.finish)) << "seed " << seed;
        if (kept.statistics.segments > 1) {
            ++restarts;
            configuration.scheduler = seed % 3 == 0 ? "check" : "timewarp";
            configuration.threads = seed % 3 == 0 ? 1 : 1 + dice.small(3);
            configuration.checkpoint.restart = true;
            FullDifferentiation rest;
            ASSERT_TRUE(alike(one, simulate_partitioned(graph, machine, seed, configuration, rest).found.finish))
                << "seed " << seed;
        }
    }
    EXPECT_GE(restarts, testing::trials(10));
}

}  // namespace
}  // namespace idlewave::loggops
