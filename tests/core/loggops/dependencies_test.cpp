#include "loggops/dependencies.hpp"

#include <gtest/gtest.h>

#include "goal/graph.hpp"
#include "loggops/observer.hpp"
#include "machine/machine.hpp"

namespace idlewave::loggops {
namespace {

/// Ops 0 and 1 are ready from the beginning; op 2 waits for the end of 0 and the start of 1, op 3 for the end of 2.
goal::Graph schedule() {
    goal::GraphBuilder builder;
    builder.begin_rank();
    builder.add({.size = 1, .kind = goal::OpKind::send});
    for (int i = 0; i < 3; ++i) {
        builder.add({.size = 1, .kind = goal::OpKind::calc});
    }
    builder.require(2, 0, goal::Edge::end);
    builder.require(2, 1, goal::Edge::start);
    builder.require(3, 2, goal::Edge::end);
    return builder.finish();
}

TEST(Dependencies, AnOpIsReadyAtTheLatestOfItsRequirements) {
    const goal::Graph graph = schedule();
    const machine::Machine machine;
    NoObserver observer;
    RankTables<goal::Graph, NoObserver> tables(graph, machine, 0, observer);
    Dependencies<goal::Graph, NoObserver> dependencies(tables);
    Rank<goal::Graph, Time> state;
    CurrentRank<goal::Graph, Time> rank;
    rank.enter(state, 0, nullptr);
    goal::ReadyOp<goal::Graph::Cookie> next;

    dependencies.begin(rank);
    ASSERT_EQ(dependencies.ready().size(), 2U);
    EXPECT_EQ(dependencies.ready()[0].op_index + dependencies.ready()[1].op_index, 1U);
    dependencies.ready().clear();

    EXPECT_FALSE(dependencies.ended(rank, {.op_index = 0, .at = 700}, next)) << "op 1 has not started";
    EXPECT_TRUE(dependencies.started(rank, 1, {}, 500, next));
    EXPECT_EQ(next.op_index, 2U);
    EXPECT_EQ(next.at, 700);
    dependencies.ended(rank, {.op_index = 2, .at = 900});
    ASSERT_EQ(dependencies.ready().size(), 1U) << "the same, into the list";
    EXPECT_EQ(dependencies.ready()[0].op_index, 3U);
    EXPECT_EQ(dependencies.ready()[0].at, 900);
}

TEST(Dependencies, OpsThatBecomeReadyWhileAnOpOfTheListStartsGoIntoAnotherList) {
    const goal::Graph graph = schedule();
    const machine::Machine machine;
    NoObserver observer;
    RankTables<goal::Graph, NoObserver> tables(graph, machine, 0, observer);
    Dependencies<goal::Graph, NoObserver> dependencies(tables);
    Rank<goal::Graph, Time> state;
    CurrentRank<goal::Graph, Time> rank;
    rank.enter(state, 0, nullptr);
    dependencies.begin(rank);
    auto& starting = dependencies.swap_ready();
    EXPECT_EQ(starting.size(), 2U);
    EXPECT_TRUE(dependencies.ready().empty());
    dependencies.add_ready(true, starting[1]);
    EXPECT_EQ(dependencies.ready().size(), 1U);
    starting.clear();
    EXPECT_EQ(dependencies.ready().size(), 1U);
}

}  // namespace
}  // namespace idlewave::loggops
