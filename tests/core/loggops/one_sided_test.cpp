#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "goal/goal_reader.hpp"
#include "outcome.hpp"

/// One-sided operations against their closed forms (docs/model.md, R22 to R26), to the picosecond.
namespace idlewave::loggops {
namespace {

constexpr Time L = 1009;
constexpr Time o = 101;
constexpr Time g = 211;
constexpr Time G = 3;
constexpr Time O = 2;
constexpr Time o_r = 307;
constexpr Time O_r = 5;

/// Messages cost other times than one-sided operations.
machine::Machine by_network() {
    machine::Machine machine = testing::simple_machine(50'000, 7000, 9000, 100, 10);
    machine.one_sided.emplace();
    machine.one_sided->segments[0].parameters = {.L = L, .o_s = o, .g = g, .G = G, .O_s = O};
    return machine;
}

machine::Machine by_cpu() {
    machine::Machine machine = by_network();
    machine.one_sided->segments[0].parameters.o_r = o_r;
    machine.one_sided->segments[0].parameters.O_r = O_r;
    machine.progress = machine::Progress::cpu;
    return machine;
}

goal::Graph schedule_of(const std::vector<std::string>& ranks) {
    std::string text = "num_ranks " + std::to_string(ranks.size()) + "\n";
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        text += "rank " + std::to_string(rank) + " {\n" + ranks[rank] + "\n}\n";
    }
    return goal::read_goal(text, "test");
}

/// When each op ends, by its label. The sequential scheduler, several threads and a simulation without a record agree.
std::map<std::string, Time> ends_of(const machine::Machine& machine, const std::vector<std::string>& ranks) {
    const goal::Graph graph = schedule_of(ranks);
    const testing::Outcome outcome = testing::outcome_of(graph, machine);
    EXPECT_EQ(outcome.standstill, "");
    EXPECT_EQ(outcome, testing::outcome_one_by_one(graph, machine, 0));
    EXPECT_EQ(outcome, testing::outcome_of(graph, machine, 0, 2));
    EXPECT_EQ(outcome.finish, testing::finish_of(graph, machine));
    std::map<std::string, Time> ends;
    for (const OpRecord& op : outcome.records) {
        ends[graph.name(op.rank, op.op_index)] = op.end.time;
    }
    return ends;
}

/// A put of one byte between idle ranks, from its start to its end.
constexpr Time put = o + L + L;

TEST(OneSided, APutEndsWhenItsAcknowledgementHasCome) {
    for (const std::uint64_t size : {1U, 2U, 100U}) {
        const Time k = static_cast<Time>(size) - 1;
        const std::vector<std::string> ranks = {"p: put " + std::to_string(size) + "b to 1", "c: calc 0"};
        EXPECT_EQ(ends_of(by_network(), ranks)["p"], o + L + k * G + L);
        EXPECT_EQ(ends_of(by_cpu(), ranks)["p"], o + L + o_r + k * O_r + L);
    }
}

TEST(OneSided, AGetEndsWhenItsReplyHasCome) {
    for (const std::uint64_t size : {1U, 2U, 100U}) {
        const Time k = static_cast<Time>(size) - 1;
        const std::vector<std::string> ranks = {"p: get " + std::to_string(size) + "b from 1", "c: calc 0"};
        EXPECT_EQ(ends_of(by_network(), ranks)["p"], o + L + L + k * G);
        EXPECT_EQ(ends_of(by_cpu(), ranks)["p"], (o + L + o_r) + (o + L) + o_r + k * O_r);
    }
}

TEST(OneSided, TheOriginNoticesTheEndWhenItsCpuIsFree) {
    const auto ends = ends_of(by_network(), {"p: put 1b to 1\nc: calc 50\nc irequires p", "d: calc 0"});
    EXPECT_EQ(ends.at("p"), o + 50'000);
}

TEST(OneSided, ARankComputesWhileItsNicTransmitsInOrderWhatItWasHanded) {
    const auto ends = ends_of(by_network(), {"p: put 101b to 1\nq: get 1b from 1\nr: put 1b to 1\nc: calc 1\n"
                                             "q irequires p\nr irequires q\nc irequires r",
                                             "d: calc 0"});
    const Time handed_over = o + 100 * O + o + o;
    EXPECT_EQ(ends.at("c"), handed_over + 1000);
    const Time left = o + (g + 100 * G);
    EXPECT_LT(handed_over, left) << "the NIC is busy then";
    EXPECT_EQ(ends.at("q"), left + L + L);
    EXPECT_EQ(ends.at("r"), left + g + L + L);
}

TEST(OneSided, ASendThatAProgramStartsAfterPutsLeavesAfterThem) {
    const auto ends =
        ends_of(by_network(),
                {"p: put 1b to 1\nq: put 1b to 1\ns: send 1b to 1\nq irequires p\ns irequires q", "r: recv 1b from 0"});
    EXPECT_EQ(ends.at("s"), o + 2 * g + 7000);
}

TEST(OneSided, ATargetThatComputesDelaysOnlyWhatItsCpuCompletes) {
    EXPECT_EQ(ends_of(by_network(), {"p: put 1b to 1", "c: calc 40"})["p"], put);
    EXPECT_EQ(ends_of(by_cpu(), {"p: put 1b to 1", "c: calc 40"})["p"], 40'000 + o_r + L);
    EXPECT_EQ(ends_of(by_network(), {"p: get 1b from 1", "c: calc 40"})["p"], o + L + L);
    EXPECT_EQ(ends_of(by_cpu(), {"p: get 1b from 1", "c: calc 40"})["p"], 40'000 + o_r + o + L + o_r);
}

TEST(OneSided, AnAwaitEndsWhenTheDataOfItsPutHaveLandedOrWhenItStarts) {
    EXPECT_EQ(ends_of(by_network(), {"p: put 100b to 1 tag 5", "a: await from 0 tag 5"})["a"], o + L + 99 * G);
    EXPECT_EQ(ends_of(by_network(), {"p: put 100b to 1 tag 5", "a: await from -1 tag -1"})["a"], o + L + 99 * G);
    EXPECT_EQ(ends_of(by_network(), {"p: put 1b to 1 tag 5", "c: calc 9\na: await from 0 tag 5\na requires c"})["a"],
              9000);
}

TEST(OneSided, AwaitsTakeTheOldestNotificationThatMatchesAndPutsWithoutATagNotifyNobody) {
    const auto ends =
        ends_of(by_network(), {"n: put 1b to 1\np: put 1b to 1 tag 5\nq: put 1b to 1 tag 6\nr: put 1b to 1 tag 6\n"
                               "p requires n\nq requires p\nr requires q",
                               "a: await from 0 tag 6\nb: await from 0 tag -1\nc: await from -1 tag 6"});
    EXPECT_EQ(ends.at("b"), 1 * put + o + L);
    EXPECT_EQ(ends.at("a"), 2 * put + o + L);
    EXPECT_EQ(ends.at("c"), 3 * put + o + L);
}

TEST(OneSided, AwaitsAndReceivesDoNotSeeEachOthersMessages) {
    const auto ends = ends_of(by_network(), {"s: send 1b to 1 tag 5\np: put 1b to 1 tag 5\np requires s",
                                             "a: await from 0 tag 5\nr: recv 1b from 0 tag 5"});
    EXPECT_EQ(ends.at("a"), 9000 + L) << "after the gap of the message";
    EXPECT_EQ(ends.at("r"), 7000 + 50'000 + 7000);
}

TEST(OneSided, WithoutParametersOfTheirOwnTheyHaveThoseOfMessagesBetweenTheSameRanks) {
    machine::Machine machine = testing::simple_machine(50'000, 7000, 9000, 100, 10);
    machine.node.emplace();
    machine.node->segments[0].parameters = {.L = 500, .o_s = 70, .o_r = 90, .g = 80, .G = 1};
    machine.node->S = 0;
    machine.node_ranks = 2;
    const auto ends = ends_of(machine, {"p: put 11b to 1\nq: put 11b to 2\nq requires p", "b: calc 30", "c: calc 0"});
    EXPECT_EQ(ends.at("p"), 70 + 500 + 10 * 1 + 500);
    EXPECT_EQ(ends.at("q") - ends.at("p"), 7000 + 50'000 + 10 * 100 + 50'000);
}

/// A lock of rank 0, a put into it, and the unlock; the labels end with `name`.
std::string epoch(const std::string& name, const std::string& kind, const std::string& after = "") {
    return "l" + name + ": " + kind + " at 0\np" + name + ": put 1b to 0\nu" + name + ": unlock at 0\np" + name +
           " requires l" + name + "\nu" + name + " requires p" + name +
           (after.empty() ? "" : "\nl" + name + " requires " + after);
}

TEST(OneSided, AnExclusiveLockGoesFromRankToRank) {
    const auto ends = ends_of(by_network(), {"c: calc 0", epoch("1", "lock"), epoch("2", "lock"), epoch("3", "lock")});
    const Time held = L + put + (o + L);  // the grant comes, the put is done, the unlock arrives
    for (const Time rank : {1, 2, 3}) {
        EXPECT_EQ(ends.at("l" + std::to_string(rank)), o + L + (rank - 1) * held + L);
        EXPECT_EQ(ends.at("u" + std::to_string(rank)), o + L + rank * held + L);
    }
}

TEST(OneSided, SharedLocksAreHeldTogetherAndTheQueueIsServedInOrder) {
    const auto ends = ends_of(
        by_network(), {"c: calc 0", epoch("1", "shared_lock"), epoch("2", "shared_lock"),
                       "d: calc 1\n" + epoch("3", "lock", "d"), "e: calc 2\n" + epoch("4", "shared_lock", "e")});
    EXPECT_EQ(ends.at("l1"), o + L + L);
    EXPECT_EQ(ends.at("l2"), o + L + g + L);
    EXPECT_EQ(ends.at("l3"), ends.at("u2")) << "acknowledgement and grant leave together";
    EXPECT_EQ(ends.at("l4"), ends.at("u3"))
        << "it came while others had the lock together, but behind an exclusive one";
}

std::string refusal_of(const std::string& ops) {
    try {
        testing::finish_of(schedule_of({ops, "l: lock at 1"}), by_network());
    } catch (const InputError& error) {
        return error.what();
    }
    return "no refusal";
}

TEST(OneSided, AnUnlockWithoutItsLockIsRefused) {
    EXPECT_EQ(refusal_of("u: unlock at 1"), "rank 0, op 0: expected it to hold lock 0 at rank 1, which it unlocks");
    EXPECT_EQ(refusal_of("l: shared_lock at 1 tag 1\nu: unlock at 1 tag 2\nu requires l"),
              "rank 0, op 1: expected it to hold lock 2 at rank 1, which it unlocks");
    EXPECT_EQ(refusal_of("l: lock at 1 tag 1\nu: unlock at 1 tag 1\nv: unlock at 1 tag 1\nu requires l\nv requires u"),
              "rank 0, op 2: expected it to hold lock 1 at rank 1, which it unlocks");
    EXPECT_EQ(refusal_of("l: lock at 1 tag 1\nu: unlock at 1 tag 1\nu requires l"), "no refusal");
}

TEST(OneSided, MessagesAreThePutsGetsRepliesLocksAndUnlocks) {
    const goal::Graph graph = schedule_of({"p: put 1b to 1 tag 3\nq: get 9b from 1\n" + epoch("0", "lock"),
                                           "a: await from 0 tag 3\n" + epoch("1", "shared_lock")});
    EXPECT_EQ(testing::outcome_of(graph, by_network()).messages, 1U + 2U + 3U + 3U);
}

}  // namespace
}  // namespace idlewave::loggops
