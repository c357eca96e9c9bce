#include "standstill/standstill.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "goal/goal_reader.hpp"
#include "loggopsim/simulate.hpp"
#include "outcome.hpp"
#include "standstill/blocked_ops.hpp"

namespace idlewave::standstill {
namespace {

using Strings = std::vector<std::string>;

machine::Machine eager() {
    return testing::simple_machine(1000, 100, 200, 2, 1);
}

/// Messages of more than 10 bytes go by rendezvous.
machine::Machine with_rendezvous() {
    machine::Machine machine = eager();
    machine.network.S = 10;
    return machine;
}

/// How a schedule's simulation comes to a standstill.
Standstill standstill_of(std::string_view goal, const machine::Machine& machine = eager()) {
    try {
        testing::finish_of(goal::read_goal(goal, "schedule"), machine);
    } catch (const Standstill& standstill) {
        return standstill;
    }
    throw std::runtime_error("it ends");
}

Strings lines_of(const std::vector<Waiting>& list) {
    Strings lines;
    for (const Waiting& w : list) {
        lines.push_back(std::to_string(w.rank) + ' ' + w.op + ": " + w.why);
    }
    return lines;
}

TEST(BlockedOps, SaysHowManyRequirementsAreNotMetAndWhichPendingOpsAreBehindThem) {
    const goal::RankSchedule rank_schedule{
        .ops =
            {{.kind = goal::OpKind::calc}, {.kind = goal::OpKind::recv}, {.kind = goal::OpKind::recv}, {}, {}, {}, {}},
        .requirements = {{3, 0, goal::Edge::end},
                         {3, 1, goal::Edge::end},
                         {4, 1, goal::Edge::start},
                         {5, 3, goal::Edge::end},
                         {5, 2, goal::Edge::end},
                         {6, 3, goal::Edge::start}},
        .labels = {}};
    const std::vector<goal::OpIndex> pending = {1, 2};
    const BlockedOps blocked(rank_schedule, pending);
    EXPECT_EQ(blocked.count(), 3U);
    EXPECT_EQ(blocked.unmet(3), 1U) << "op 0 has ended";
    EXPECT_FALSE(blocked.blocks(4)) << "op 1 has started";
    EXPECT_EQ(blocked.unmet(5), 2U);
    const auto behind = [&](goal::OpIndex op_index) {
        const auto found = blocked.pending_of(blocked.cause(op_index));
        return std::vector<std::uint32_t>(found.begin(), found.end());
    };
    EXPECT_EQ(behind(3), (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(behind(5), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(blocked.cause(6), blocked.cause(3));
    EXPECT_TRUE(blocked.cycle().empty());
}

TEST(Standstill, ACycleOfReceivesIsShownAsThatCycle) {
    const Standstill found = standstill_of(
        "num_ranks 3\n"
        "rank 0 {\nr: recv 8b from 1\ns: send 8b to 2\ns requires r\n}\n"
        "rank 1 {\nr: recv 8b from 2\nc: calc 5\nc requires r\ns: send 8b to 0\ns requires c\n}\n"
        "rank 2 {\nr: recv 8b from 0\ns: send 8b to 1\ns requires r\n}\n");
    EXPECT_EQ(found.kind, StandstillKind::deadlock);
    EXPECT_STREQ(found.what(),
                 "deadlock: 3 ops wait for each other in a cycle\n"
                 "  rank 0, r: waits for a message from rank 1 with tag 0; rank 1 sends it in s, after r has ended\n"
                 "  rank 1, r: waits for a message from rank 2 with tag 0; rank 2 sends it in s, after r has ended\n"
                 "  rank 2, r: waits for a message from rank 0 with tag 0; rank 0 sends it in s, after r has ended\n"
                 "  and so back to rank 0, r\n"
                 "in all 7 things are left");
    EXPECT_EQ(found.left_over.cycle_length, 3U);
    EXPECT_EQ(found.left_over.left, 7U);
    EXPECT_TRUE(found.left_over.messages.empty());
}

TEST(Standstill, SendsByRendezvousWaitInCyclesToo) {
    const Standstill found = standstill_of(
        "num_ranks 2\n"
        "rank 0 {\ns: send 100b to 1\nr: recv 100b from 1\nr requires s\n}\n"
        "rank 1 {\ns: send 100b to 0 tag 3\nr: recv 100b from 0\nr requires s\n}\n",
        with_rendezvous());
    EXPECT_EQ(found.kind, StandstillKind::unmatched_rendezvous) << "nobody receives tag 3";
    const Standstill cycle = standstill_of(
        "num_ranks 2\n"
        "rank 0 {\ns: send 100b to 1\nr: recv 100b from 1\nr requires s\n}\n"
        "rank 1 {\ns: send 100b to 0\nr: recv 100b from 0\nr requires s\n}\n",
        with_rendezvous());
    EXPECT_EQ(cycle.kind, StandstillKind::deadlock);
    EXPECT_EQ(lines_of(cycle.left_over.cycle),
              (Strings{"0 s: waits for rank 1 to receive its 100 bytes with tag 0 (rendezvous); rank 1 does so in r, "
                       "after s has ended",
                       "1 s: waits for rank 0 to receive its 100 bytes with tag 0 (rendezvous); rank 0 does so in r, "
                       "after s has ended"}));
}

TEST(Standstill, OpsOfARankThatRequireEachOtherAreACycle) {
    const Standstill found = standstill_of(
        "num_ranks 2\n"
        "rank 0 {\nr: recv 8b from 1\n}\n"
        "rank 1 {\n"
        "last: send 8b to 0\na: calc 1\nb: calc 1\nc: calc 1\n"
        "last requires a\na requires b\nb irequires c\nc requires a\n}\n");
    EXPECT_EQ(found.kind, StandstillKind::deadlock);
    EXPECT_EQ(lines_of(found.left_over.cycle),
              (Strings{"1 a: waits for b of its rank to end", "1 b: waits for c of its rank to start",
                       "1 c: waits for a of its rank to end"}));
    EXPECT_EQ(lines_of(found.left_over.waiting).front(),
              "0 r: waits for a message from rank 1 with tag 0; rank 1 sends it in last");
}

TEST(Standstill, AnOpMayWaitForItself) {
    const Standstill found =
        standstill_of("num_ranks 1\nrank 0 {\nr: recv 8b from 0\ns: send 8b to 0\ns requires r\n}\n");
    EXPECT_EQ(found.kind, StandstillKind::deadlock);
    EXPECT_EQ(std::string(found.what()).substr(0, 32), "deadlock: an op waits for itself");
    EXPECT_EQ(found.left_over.cycle_length, 1U);
}

/// Rank 0 receives from any rank. Rank 1 would send after a message from rank 0, which comes later; rank 2 after one
/// with `tag` from rank 0.
std::string any_source(int tag) {
    return "num_ranks 3\n"
           "rank 0 {\nr: recv 8b from -1\n"
           "to1: send 8b to 1\nto1 requires r\nto2: send 8b to 2 tag 2\nto2 requires r\n}\n"
           "rank 1 {\nw: recv 8b from 0\ns: send 8b to 0\ns requires w\n}\n"
           "rank 2 {\nw: recv 8b from 0 tag " +
           std::to_string(tag) + "\ns: send 8b to 0\ns requires w\n}\n";
}

TEST(Standstill, AReceiveFromAnySourceIsDeadlockedIfAllWhoWouldSendAre) {
    const Standstill found = standstill_of(any_source(2));
    EXPECT_EQ(found.kind, StandstillKind::deadlock);
    EXPECT_EQ(lines_of(found.left_over.cycle),
              (Strings{"0 r: waits for a message from any rank with tag 0; rank 1 sends one in s, after w has ended, "
                       "and 1 other op would, but cannot start either",
                       "1 w: waits for a message from rank 0 with tag 0; rank 0 sends it in to1, after r has ended"}));
}

TEST(Standstill, AReceiveFromAnySourceIsInNoCycleIfOneWhoWouldSendWaitsForAMissingMessageAlone) {
    const Standstill found = standstill_of(any_source(3));
    EXPECT_EQ(found.kind, StandstillKind::unmatched_receive);
    EXPECT_TRUE(found.left_over.cycle.empty());
    EXPECT_STREQ(found.what(),
                 "unmatched receive: an op waits for a message that nobody sends\n"
                 "  rank 2, w: waits for a message from rank 0 with tag 3, which nobody sends\n"
                 "in all 7 things are left");
}

TEST(Standstill, OfSeveralWaysAroundTheShortestFromALowRankIsShown) {
    const Standstill found = standstill_of(
        "num_ranks 4\n"
        "rank 0 {\nfar: recv 8b from 1\nnear: recv 8b from 3\ns: send 8b to 3\ns requires far\ns requires near\n}\n"
        "rank 1 {\nr: recv 8b from 2\ns: send 8b to 0\ns requires r\n}\n"
        "rank 2 {\nr: recv 8b from 3\ns: send 8b to 1\ns requires r\n}\n"
        "rank 3 {\nr: recv 8b from 0\ns: send 8b to 0\nt: send 8b to 2\ns requires r\nt requires r\n}\n");
    ASSERT_EQ(found.left_over.cycle.size(), 2U) << found.what();
    EXPECT_EQ(found.left_over.cycle[0].op, "near");
    EXPECT_EQ(found.left_over.cycle[1].rank, 3U);
}

TEST(Standstill, OfAlikeReceivesTheOneThatIsInTheCycleIsNamed) {
    const Standstill found = standstill_of(
        "num_ranks 2\n"
        "rank 0 {\na: recv 8b from 1\nb: recv 8b from 1\ns: send 8b to 1\ns requires b\n}\n"
        "rank 1 {\nr: recv 8b from 0\ns: send 8b to 0\ns requires r\n}\n");
    ASSERT_EQ(found.left_over.cycle.size(), 2U) << found.what();
    EXPECT_EQ(found.left_over.cycle[0].op, "b");
    EXPECT_EQ(found.left_over.cycle[1].why,
              "waits for a message from rank 0 with tag 0; rank 0 sends it in s, after b has ended");
}

TEST(Standstill, WhatIsUnmatchedIsToldBesideACycle) {
    const Standstill found = standstill_of(
        "num_ranks 2\n"
        "rank 0 {\nlost: send 8b to 1 tag 9\nr: recv 8b from 1\ns: send 8b to 1\ns requires r\n}\n"
        "rank 1 {\nr: recv 8b from 0\ns: send 8b to 0\ns requires r\nmissing: recv 1b from 0 tag 8\n}\n");
    EXPECT_EQ(found.kind, StandstillKind::deadlock);
    EXPECT_STREQ(
        found.what(),
        "deadlock: 2 ops wait for each other in a cycle\n"
        "  rank 0, r: waits for a message from rank 1 with tag 0; rank 1 sends it in s, after r has ended\n"
        "  rank 1, r: waits for a message from rank 0 with tag 0; rank 0 sends it in s, after r has ended\n"
        "  and so back to rank 0, r\n"
        "unmatched receive: an op waits for a message that nobody sends\n"
        "  rank 1, missing: waits for a message from rank 0 with tag 8, which nobody sends\n"
        "unmatched send: a message is received by no op\n"
        "  rank 0, lost: 8 bytes to rank 1 with tag 9; r of rank 1 waits for a message from rank 0 with tag 0\n"
        "in all 6 things are left");
}

TEST(Standstill, AMessageThatNoOpReceivesIsAnUnmatchedSendIfAllOpsHaveEnded) {
    const Standstill found = standstill_of(
        "num_ranks 2\n"
        "rank 0 {\na: send 8b to 1 tag 2\nb: send 9b to 1 tag 2\n}\n"
        "rank 1 {\nr: recv 8b from 0 tag 2\n}\n");
    EXPECT_EQ(found.kind, StandstillKind::unmatched_send);
    EXPECT_STREQ(found.what(),
                 "unmatched send: a message is received by no op\n"
                 "  rank 0, b: 9 bytes to rank 1 with tag 2; rank 0 has 2 sends to rank 1 with tag 2, and rank 1 has "
                 "1 receive for them");
    EXPECT_EQ(lines_of(found.left_over.waiting),
              (Strings{"1 a message: from rank 0 with tag 2 has arrived, and is received by no op"}));
    ASSERT_EQ(found.left_over.messages.size(), 1U);
    EXPECT_EQ(found.left_over.messages[0].op, "b");
    EXPECT_EQ(found.left_over.messages[0].size, 9U);
}

/// What is said of the message that rank 0 sends to rank 1 with tag 2.
std::string hint_for(const std::string& ops_of_rank_1, const std::string& rank_2 = "") {
    const Standstill found = standstill_of("num_ranks 3\nrank 0 {\ns: send 8b to 1 tag 2\n}\nrank 1 {\n" +
                                           ops_of_rank_1 + "}\nrank 2 {\n" + rank_2 + "}\n");
    const std::vector<UnmatchedMessage>& messages = found.left_over.messages;
    return messages.size() == 1 ? messages[0].op + ": " + messages[0].hint : found.what();
}

TEST(Standstill, OfAnUnmatchedSendTheReceiveThatItMissesIsNamed) {
    EXPECT_EQ(hint_for(""), "s: rank 1 has no receive from rank 0");
    EXPECT_EQ(hint_for("r: recv 8b from 0 tag 3\n"), "s: r of rank 1 waits for a message from rank 0 with tag 3");
    EXPECT_EQ(hint_for("r: recv 8b from 2 tag 2\n"), "s: r of rank 1 waits for a message from rank 2 with tag 2");
    EXPECT_EQ(
        hint_for("q: recv 8b from -1 tag 5\nr: recv 8b from -1 tag 5\n", "send 8b to 1 tag 5\nsend 8b to 1 tag 5\n"),
        "s: rank 1 receives from any rank with tag 5 (q) and in 1 other op, and never with tag 2");
    EXPECT_EQ(hint_for("r: recv 8b from 2 tag 2\n", "send 8b to 1 tag 2\n"),
              "s: rank 1 receives with tag 2 from rank 2 (r), and never from rank 0");
    EXPECT_EQ(hint_for("c: calc 9999\nr: recv 8b from -1 tag 2\nr requires c\n", "late: send 1b to 1 tag 2\n"),
              "late: the receive of rank 1 that agrees with it has taken another message");
}

TEST(Standstill, WhichSendAMessageIsFromIsLeftOpenWhereItIsNotCertain) {
    const std::string sends = "num_ranks 2\nrank 0 {\na: send 8b to 1\nb: send 8b to 1\n}\nrank 1 {\n";
    const Standstill one = standstill_of(sends + "recv 8b from 0\n}\n");
    ASSERT_EQ(one.left_over.messages.size(), 1U);
    EXPECT_EQ(one.left_over.messages[0].op, "");
    const Standstill both = standstill_of(sends + "}\n");
    ASSERT_EQ(both.left_over.messages.size(), 2U);
    EXPECT_EQ(both.left_over.messages[0].op, "a");
    EXPECT_EQ(both.left_over.messages[1].op, "b");
}

TEST(Standstill, AMessageWhoseReceiveIsNotPostedIsNotUnmatched) {
    const Standstill found = standstill_of(
        "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 2\n}\n"
        "rank 1 {\nfirst: recv 8b from 0 tag 1\nthen: recv 8b from 0 tag 2\nthen requires first\n}\n");
    EXPECT_EQ(found.kind, StandstillKind::unmatched_receive);
    EXPECT_TRUE(found.left_over.messages.empty());
    EXPECT_EQ(lines_of(found.left_over.waiting),
              (Strings{"1 first: waits for a message from rank 0 with tag 1, which nobody sends",
                       "1 a message: from rank 0 with tag 2 has arrived, and then, which receives it, is not posted",
                       "1 then: waits for 1 other op of its rank"}));
}

TEST(Standstill, ARendezvousThatNoOpReceivesIsAnUnmatchedSendThatNeverEnds) {
    const Standstill found = standstill_of(
        "num_ranks 2\nrank 0 {\ns: send 100b to 1 tag 2\nc: calc 5\nc requires s\n}\nrank 1 {\n}\n", with_rendezvous());
    EXPECT_EQ(found.kind, StandstillKind::unmatched_rendezvous);
    EXPECT_STREQ(found.what(),
                 "unmatched send: a message is received by no op\n"
                 "  rank 0, s: 100 bytes to rank 1 with tag 2; rank 1 has no receive from rank 0\n"
                 "in all 2 things are left");
    EXPECT_EQ(lines_of(found.left_over.waiting).front(),
              "0 s: waits for rank 1 to receive its 100 bytes with tag 2 (rendezvous), which no op does");
}

// ---- one-sided operations

TEST(Standstill, AnAwaitThatNoPutNotifiesIsNamed) {
    const Standstill found = standstill_of(
        "num_ranks 2\nrank 0 {\np: put 8b to 1 tag 4\nq: put 8b to 1\n}\n"
        "rank 1 {\na: await from 0 tag 5\nc: calc 1\nc requires a\n}\n");
    EXPECT_EQ(found.kind, StandstillKind::deadlock);
    EXPECT_STREQ(found.what(),
                 "deadlock: an op waits for messages, notifications or locks that never come\n"
                 "  rank 1, a: waits for a notification from rank 0 with tag 5, which nobody puts\n"
                 "in all 2 things are left");
}

TEST(Standstill, AwaitsAndReceivesThatWaitForEachOtherAreACycle) {
    const Standstill found = standstill_of(
        "num_ranks 2\nrank 0 {\na: await from -1 tag -1\ns: send 8b to 1\ns requires a\n}\n"
        "rank 1 {\nr: recv 8b from 0\np: put 8b to 0 tag 1\np requires r\n}\n");
    EXPECT_EQ(
        lines_of(found.left_over.cycle),
        (Strings{"0 a: waits for a notification from any rank with any tag; rank 1 puts it in p, after r has ended",
                 "1 r: waits for a message from rank 0 with tag 0; rank 0 sends it in s, after a has ended"}));
}

/// Takes a lock at rank `first`, then one at rank `second`, and gives both back.
std::string two_locks(const std::string& first, const std::string& second) {
    return "l: lock at " + first + "\nm: lock at " + second + "\nu: unlock at " + first + "\nv: unlock at " + second +
           "\nm requires l\nu requires m\nv requires m\n";
}

TEST(Standstill, TwoRanksThatTakeTwoLocksInOppositeOrderWaitForEachOther) {
    const Standstill found =
        standstill_of("num_ranks 2\nrank 0 {\n" + two_locks("0", "1") + "}\nrank 1 {\n" + two_locks("1", "0") + "}\n");
    EXPECT_EQ(found.kind, StandstillKind::deadlock);
    EXPECT_STREQ(
        found.what(),
        "deadlock: 2 ops wait for each other in a cycle\n"
        "  rank 0, m: waits for lock 0 at rank 1, which rank 1 has; rank 1 unlocks it in u, after m has ended\n"
        "  rank 1, m: waits for lock 0 at rank 0, which rank 0 has; rank 0 unlocks it in u, after m has ended\n"
        "  and so back to rank 0, m\n"
        "in all 6 things are left");
}

TEST(Standstill, ALockWaitsForTheRankThatHasItAlone) {
    const Standstill found = standstill_of(
        "num_ranks 3\nrank 0 {\nl: lock at 0\n}\n"
        "rank 1 {\nc: calc 9\nl: lock at 0\nu: unlock at 0\nl requires c\nu requires l\n}\n"
        "rank 2 {\nl: shared_lock at 0 tag 1\nu: unlock at 0 tag 1\nu requires l\n}\n");
    EXPECT_TRUE(found.left_over.cycle.empty());
    EXPECT_STREQ(found.what(),
                 "deadlock: an op waits for messages, notifications or locks that never come\n"
                 "  rank 1, l: waits for lock 0 at rank 0, which rank 0 has and does not unlock\n"
                 "in all 2 things are left");
}

TEST(Standstill, ARankThatTakesALockAgainWaitsForItself) {
    const Standstill found = standstill_of(
        "num_ranks 1\nrank 0 {\nl: lock at 0\nm: lock at 0\nu: unlock at 0\nm requires l\nu requires m\n}\n");
    EXPECT_EQ(found.left_over.cycle_length, 1U);
    EXPECT_EQ(
        lines_of(found.left_over.cycle),
        (Strings{"0 m: waits for lock 0 at rank 0, which rank 0 has; rank 0 unlocks it in u, after m has ended"}));
}

TEST(Standstill, TheDialectSaysTheSame) {
    const std::string goal =
        "num_ranks 2\n"
        "rank 0 {\na: send 8b to 1 tag 5\nb: send 8b to 1 tag 5\ns: send 100b to 1\nr: recv 100b from 1\nr requires "
        "s\n}\n"
        "rank 1 {\nrecv 8b from 0 tag 5\ns: send 100b to 0\nr: recv 100b from 0\nr requires s\n}\n";
    machine::Machine machine = with_rendezvous();
    const Standstill model = standstill_of(goal, machine);
    try {
        loggopsim::simulate(goal::read_goal(goal, "schedule"), machine, {});
        FAIL();
    } catch (const Standstill& found) {
        EXPECT_EQ(found.kind, StandstillKind::deadlock);
        EXPECT_EQ(lines_of(found.left_over.cycle), lines_of(model.left_over.cycle));
        EXPECT_EQ(lines_of(found.left_over.waiting), lines_of(model.left_over.waiting));
        EXPECT_EQ(found.left_over.messages.at(0).op, "b") << "the dialect knows which one is left";
        EXPECT_EQ(model.left_over.messages.at(0).op, "");
    }
}

TEST(Standstill, OfVeryManyThingsTheFirstAreNamedAndAllAreCounted) {
    constexpr std::uint32_t ranks = 100'000;
    Unfinished unfinished;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        unfinished.add(
            PendingOp{.rank = rank, .op_index = 0, .peer = (rank + 1) % ranks, .tag = 7, .kind = goal::OpKind::recv});
        unfinished.add(UnfinishedRank{.rank = rank});
    }
    const auto rank_schedule = [](std::uint32_t rank) {
        return goal::RankSchedule{
            .ops = {{.size = 8, .peer = (rank + 1) % ranks, .tag = 7, .kind = goal::OpKind::recv},
                    {.size = 8, .peer = (rank + ranks - 1) % ranks, .tag = 7, .kind = goal::OpKind::send}},
            .requirements = {{1, 0, goal::Edge::end}},
            .labels = {}};
    };
    const auto name = [](std::uint32_t /*rank*/, goal::OpIndex op_index) { return op_index == 0 ? "r" : "s"; };
    const Standstill found = standstill(std::move(unfinished), {.rank_schedule = rank_schedule, .name = name});
    EXPECT_EQ(found.left_over.cycle_length, ranks);
    EXPECT_EQ(found.left_over.left, 2U * ranks);
    EXPECT_EQ(found.left_over.cycle.size(), most_named);
    EXPECT_EQ(found.left_over.waiting.size(), most_named);
    const std::string what = found.what();
    EXPECT_LT(what.size(), 1500U);
    EXPECT_TRUE(what.starts_with("deadlock: 100000 ops wait for each other in a cycle\n  rank 0, r: ")) << what;
    EXPECT_TRUE(what.ends_with("\n  … and 99994 more …\n  and so back to rank 0, r\nin all 200000 things are left"))
        << what;
}

TEST(Standstill, OfMoreMessagesThanAreKeptThoseOfTheLowestRanksStay) {
    Unfinished unfinished;
    constexpr std::uint32_t messages = 200'000;
    for (std::uint32_t i = messages; i > 0; --i) {
        unfinished.add(UnexpectedMessage{.size = 1, .receiver = i, .sender = 0, .tag = 0});
    }
    unfinished.sort();
    EXPECT_EQ(unfinished.message_count(), messages);
    ASSERT_EQ(unfinished.messages().size(), Unfinished::most_messages);
    EXPECT_EQ(unfinished.messages().front().receiver, 1U);
    EXPECT_EQ(unfinished.messages().back().receiver, Unfinished::most_messages);
}

}  // namespace
}  // namespace idlewave::standstill
