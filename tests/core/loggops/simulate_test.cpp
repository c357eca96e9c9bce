#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>

#include "collectives/algorithms.hpp"
#include "collectives/pattern.hpp"
#include "outcome.hpp"
#include "random_schedule.hpp"
#include "simulations.hpp"
#include "trials.hpp"

namespace idlewave {
namespace {

using testing::Dice;
using testing::Outcome;

TEST(Simulate, GivesTheSameTimesForRandomSchedulesBySchedulersOnAnyNumberOfThreads) {
    std::uint64_t ended = 0;
    for (std::uint64_t seed = 0; seed < testing::trials(1500); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 1 + dice.small(6), 1 + dice.small(40));
        const Outcome one = testing::outcome_one_by_one(graph, machine, seed);
        for (const std::uint32_t threads : {1U, 2U, 3U}) {
            ASSERT_EQ(one, testing::outcome_of(graph, machine, seed, threads))
                << "seed " << seed << ", " << threads << " threads";
        }
        ended += one.standstill.empty() ? 1 : 0;
    }
    EXPECT_GT(ended, testing::trials(700)) << "most schedules end without a standstill";
}

TEST(Simulate, MoreThreadsChangeNothingForManyRanks) {
    machine::Machine machine = testing::simple_machine(2'500'000, 1'500'000, 1'000'000, 6000, 0);
    machine.noise = machine::NoiseTrace({{0, 40'000'000}, {700'000'000, 3'000'000}}, 1'000'000'000,
                                        idlewave::machine::Phase::random);
    for (const auto& [collective, name, ranks] : {std::tuple(collectives::Collective::barrier, "dissemination", 3000U),
                                                  std::tuple(collectives::Collective::bcast, "binomial", 5000U),
                                                  std::tuple(collectives::Collective::alltoall, "linear", 60U),
                                                  std::tuple(collectives::Collective::gather, "linear", 700U)}) {
        const auto source = pattern(collectives::algorithm(collective, name), ranks, 3, 0);
        const Outcome one = testing::outcome_of(source, machine, 7, 1);
        for (const std::uint32_t threads : {2U, 3U, 5U}) {
            ASSERT_EQ(one, testing::outcome_of(source, machine, 7, threads)) << name << ", " << threads << " threads";
            ASSERT_EQ(one.finish, testing::finish_of(source, machine, 7, threads)) << name << ", without a recorder";
        }
    }
}

TEST(Simulate, SynchronousSendsAreThoseOfAMachineWithoutEagerMessages) {
    std::uint64_t ended = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Dice dice(seed);
        const goal::Graph graph = testing::random_schedule(dice, 1 + dice.small(5), 1 + dice.small(30));
        machine::Machine eager = testing::simple_machine(700, 150, 200, 2, 0.5);
        machine::Machine none = eager;
        none.network.S = 0;
        // Without messages of a shared buffer, or of 0 bytes: these are eager on the machine with S = 0.
        const auto with_bit = [&](std::uint64_t bit) {
            goal::GraphBuilder builder;
            for (std::uint32_t rank = 0; rank < graph.ranks(); ++rank) {
                goal::RankSchedule schedule;
                graph.block(rank).decode(schedule);
                for (goal::Op& op : schedule.ops) {
                    if (op.kind != goal::OpKind::calc) {
                        op.tag &= ~goal::shared_buffer_tag;
                        op.size = goal::bytes_of(op.size) + 1;
                    }
                    op.size |= op.kind == goal::OpKind::send ? bit : 0;
                }
                builder.append(schedule);
            }
            return builder.finish();
        };
        const testing::Outcome expected = testing::outcome_of(with_bit(0), none);
        ASSERT_EQ(testing::outcome_of(with_bit(goal::synchronous_bit), eager), expected) << "seed " << seed;
        ended += expected.standstill.empty() ? 1 : 0;
    }
    EXPECT_GT(ended, 20U) << "some schedules end without a standstill";
}

TEST(Simulate, RecordingChangesNothing) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 1 + dice.small(6), 1 + dice.small(40));
        const Outcome recorded = testing::outcome_of(graph, machine);
        if (recorded.standstill.empty()) {
            ASSERT_EQ(testing::finish_of(graph, machine), recorded.finish) << "seed " << seed;
        } else {
            ASSERT_THROW(testing::finish_of(graph, machine), Standstill) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace idlewave
