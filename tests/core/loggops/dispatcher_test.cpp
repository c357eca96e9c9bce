#include "loggops/dispatcher.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <utility>

#include "goal/graph.hpp"
#include "scheduled_rank.hpp"

namespace idlewave::loggops {
namespace {

using DispatchedRank = testing::ScheduledRank<Dispatcher>;

goal::Graph two_computations() {
    goal::GraphBuilder builder;
    builder.begin_rank();
    builder.add({.size = 1, .kind = goal::OpKind::calc});
    builder.add({.size = 1, .kind = goal::OpKind::calc});
    builder.require(1, 0, goal::Edge::end);
    return builder.finish();
}

TEST(Dispatcher, AnOpThatCannotStartBeforeTheNextEventWaitsAndTheRankSaysUntilWhen) {
    const goal::Graph graph = two_computations();
    DispatchedRank rank(graph);
    EXPECT_EQ(rank.part.start(500, rank.context), 1000) << "the second computation can start then";
    EXPECT_EQ(rank.cpu_free(), 1000);
    EXPECT_EQ(rank.part.run({}, 1000, rank.context), 1000) << "what starts at `until` is not done yet";
    EXPECT_EQ(rank.cpu_free(), 1000);
    EXPECT_EQ(rank.part.run({}, 1001, rank.context), never);
    EXPECT_EQ(rank.cpu_free(), 2000);
}

TEST(Dispatcher, AStepStartsOneRequest) {
    const goal::Graph graph = two_computations();
    DispatchedRank rank(graph);
    ASSERT_EQ(rank.part.start(0, rank.context), 0);
    EXPECT_EQ(rank.part.step({}, 0, rank.context), 0) << "it has started a request, and goes on at once";
    EXPECT_EQ(rank.cpu_free(), 1000);
    EXPECT_EQ(rank.part.step({}, 0, rank.context), 1000);
    EXPECT_EQ(rank.part.step({}, 1000, rank.context), 1000);
    EXPECT_EQ(rank.part.step({}, 1000, rank.context), never);
    EXPECT_EQ(rank.cpu_free(), 2000);
}

/// Rank 0 sends to `many` others, from the beginning on, or from the end of a computation of no time on.
goal::Graph sends_to_others(std::uint32_t many, bool after_calc) {
    goal::GraphBuilder builder;
    for (std::uint32_t rank = 0; rank <= many; ++rank) {
        builder.begin_rank();
        if (rank == 0 && after_calc) {
            builder.add({.size = 0, .kind = goal::OpKind::calc});
        }
        for (std::uint32_t peer = 1; rank == 0 && peer <= many; ++peer) {
            const goal::OpIndex send = builder.add({.size = 1, .peer = peer, .kind = goal::OpKind::send});
            if (after_calc) {
                builder.require(send, 0, goal::Edge::end);
            }
        }
    }
    return builder.finish();
}

TEST(Dispatcher, OfOpsThatCanStartAtOneTimeTheLowestIndexGoesFirst) {
    // At most two are chosen between at once; more become requests, but at the beginning one after the other.
    for (const auto& [many, after_calc] : {std::pair(2U, true), std::pair(5U, true), std::pair(5U, false)}) {
        const goal::Graph graph = sends_to_others(many, after_calc);
        DispatchedRank rank(graph);
        EXPECT_EQ(rank.part.start(never, rank.context), never);
        ASSERT_EQ(rank.context.messages.size(), many);
        for (std::uint32_t i = 0; i < many; ++i) {
            EXPECT_EQ(rank.context.messages[i].destination, i + 1);
            EXPECT_EQ(rank.context.messages[i].time, i * 50 + 20 + 1000) << "R7: the NIC is free again after g";
        }
    }
}

TEST(Dispatcher, OneEventIsHandledAsAListOfOne) {
    goal::GraphBuilder builder;
    builder.begin_rank();
    builder.add({.size = 11, .peer = 1, .tag = 5, .kind = goal::OpKind::recv});
    builder.add({.size = 1, .kind = goal::OpKind::calc});
    builder.require(1, 0, goal::Edge::end);
    builder.begin_rank();
    const goal::Graph graph = builder.finish();
    const Message message{.size = 11, .tag = 5};
    const std::array<pdes::Event<Message>, 1> events{{{1000, 1, 0, &message}}};
    DispatchedRank one(graph);
    DispatchedRank list(graph);
    EXPECT_EQ(one.part.start(1000, one.context), never) << "it waits for the message";
    EXPECT_EQ(list.part.start(1000, list.context), never);
    EXPECT_EQ(one.part.run_one(events[0], never, one.context), never);
    EXPECT_EQ(list.part.run(std::span(events), never, list.context), never);
    EXPECT_EQ(one.cpu_free(), 1000 + 30 + 20 + 1000) << "o_r, 10 bytes at G, and the computation";
    EXPECT_EQ(list.cpu_free(), one.cpu_free());
}

}  // namespace
}  // namespace idlewave::loggops
