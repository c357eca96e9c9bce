#include "goal/goal_writer.hpp"

#include <gtest/gtest.h>

#include <string>

#include "goal/goal_reader.hpp"
#include "outcome.hpp"
#include "random_schedule.hpp"

namespace idlewave::goal {
namespace {

using testing::Dice;

std::string written(const Graph& graph) {
    return goal_text(graph.ranks(), [&graph](std::uint32_t rank, RankSchedule& rank_schedule) {
        graph.block(rank).decode(rank_schedule);
    });
}

TEST(GoalWriter, WritesEveryFormOfAnOp) {
    GraphBuilder builder;
    builder.begin_rank();
    builder.add({.size = 5, .kind = OpKind::calc});
    builder.add({.size = 5, .kind = OpKind::calc, .cpu = 2}, "label");
    builder.add({.size = 1, .peer = 1, .kind = OpKind::send});
    builder.add({.size = 1, .peer = 1, .tag = 7, .kind = OpKind::send, .cpu = 1, .nic = 3});
    builder.add({.size = 0, .peer = any, .tag = any, .kind = OpKind::recv});
    builder.add({.size = 2 | synchronous_bit, .peer = 1, .tag = 7, .kind = OpKind::send, .cpu = 1});
    builder.require(1, 0, Edge::end);
    builder.require(4, 2, Edge::start);
    builder.begin_rank();
    EXPECT_EQ(written(builder.finish()),
              "num_ranks 2\n\nrank 0 {\nl1: calc 5\nl2: calc 5 cpu 2\nl3: send 1b to 1\n"
              "l4: send 1b to 1 tag 7 cpu 1 nic 3\nl5: recv 0b from -1 tag -1\n"
              "l6: send 2b to 1 tag 7 synchronous cpu 1\nl2 requires l1\nl5 irequires l3\n}\n"
              "\nrank 1 {\n}\n");
}

TEST(GoalWriter, WritesEveryFormOfAOneSidedOpAsItIsRead) {
    const std::string text =
        "num_ranks 2\n\nrank 0 {\nl1: put 5b to 1\nl2: put 0b to 1 tag 0 cpu 1 nic 3\nl3: put 7b to 0 tag 4294967294\n"
        "l4: get 8b from 1 nic 2\nl5: await from 1\nl6: await from -1 tag -1\nl7: lock at 1\nl8: lock at 1 tag 3\n"
        "l9: shared_lock at 0 cpu 2\nl10: unlock at 1 tag 3\nl9 irequires l6\nl10 requires l8\n}\n"
        "\nrank 1 {\n}\n";
    EXPECT_EQ(written(read_goal(text, "text")), text);
}

TEST(GoalWriter, WhatItWritesIsReadAsTheSameSchedule) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const Graph graph = testing::random_schedule(dice, 1 + dice.small(5), dice.small(40));
        const std::string text = written(graph);
        const Graph again = read_goal(text, "written");
        ASSERT_EQ(written(again), text);
        const testing::Outcome first = testing::outcome_of(graph, machine);
        const testing::Outcome second = testing::outcome_of(again, machine);
        ASSERT_EQ(first.finish, second.finish);
        ASSERT_EQ(first.records.size(), second.records.size());
        ASSERT_EQ(first.standstill.empty(), second.standstill.empty());
    }
}

}  // namespace
}  // namespace idlewave::goal
