#include "loggops/decisions.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

#include "rank_fixture.hpp"

namespace idlewave::loggops {
namespace {

using testing::RankFixture;
using testing::small_machine;

/// A rank whose CPU is free at `cpu`, and whose NIC can receive from `rx` on. A message arrives at 100 or later.
struct Decided {
    Time cpu = 0;
    Time rx = 0;
    bool operator()(Time start, Time ready) const {
        const machine::Machine machine = small_machine();
        RankFixture ranks(machine, 1);
        const auto rank = ranks.current(0);
        rank.free_times()[ranks.tables.layout.cpu(0)] = cpu;
        rank.free_times()[ranks.tables.layout.rx(0)] = rx;
        return Decisions<goal::Graph, NoObserver>(ranks.tables).is_decided(rank, start, ready, 100);
    }
};

TEST(Decisions, WhatStartsBeforeAMessageCanArriveIsDecided) {
    const Decided decided;
    EXPECT_TRUE(decided(99, 99));
    EXPECT_FALSE(decided(100, 100));
    EXPECT_FALSE(decided(101, 0));
}

TEST(Decisions, WhatStartsBeforeTheMessageCanBeReceivedIsDecided) {
    for (const Decided decided : {Decided{.cpu = 200}, Decided{.rx = 200}}) {
        EXPECT_TRUE(decided(199, 150)) << "however late it was ready";
        EXPECT_FALSE(decided(201, 0)) << "however early";
    }
}

TEST(Decisions, OfAnOpAndAReceptionThatStartAtOneTimeTheOneThatWasReadyFirstPrecedes) {
    for (const Decided decided : {Decided{.cpu = 200}, Decided{.rx = 200}}) {
        EXPECT_TRUE(decided(200, 99));
        EXPECT_FALSE(decided(200, 100)) << "the message may arrive at 100, and messages precede ops of one ready time";
        EXPECT_FALSE(decided(200, 150));
    }
}

TEST(Decisions, WithoutAnArrivalEverythingIsDecidedThatStarts) {
    const machine::Machine machine = small_machine();
    RankFixture ranks(machine, 1);
    const Decisions<goal::Graph, NoObserver> decisions(ranks.tables);
    EXPECT_TRUE(decisions.is_decided(ranks.current(0), never - 1, never - 1, never));
    EXPECT_FALSE(decisions.is_decided(ranks.current(0), never, never, never));
}

}  // namespace
}  // namespace idlewave::loggops
