#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collectives/call_name.hpp"
#include "goal/goal_reader.hpp"
#include "goal/graph.hpp"
#include "outcome.hpp"
#include "random_schedule.hpp"
#include "timeline/critical_path.hpp"
#include "timeline/op_rows.hpp"
#include "trials.hpp"

namespace idlewave::timeline {
namespace {

struct Recorded {
    loggops::SimulationRecord record;
    std::vector<loggops::CausedTime> finish;
};

Recorded record_of(const goal::Graph& graph, const machine::Machine& machine, std::uint32_t threads = 1) {
    loggops::Recorder recorder(graph.ranks());
    auto found = loggops::simulate(graph, machine, {.seed = 5, .threads = threads, .poll = {}}, recorder);
    return {recorder.take(), std::move(found.finish)};
}

Time last_of(const std::vector<loggops::CausedTime>& finish) {
    Time last = 0;
    for (const loggops::CausedTime& moment : finish) {
        last = std::max(last, moment.time);
    }
    return last;
}

/// The slopes that a path has: of its own parameters, with nothing chosen between equals.
Time latencies_of(const std::vector<PathStep>& path) {
    return static_cast<Time>(std::count_if(path.begin(), path.end(),
                                           [](const PathStep& step) { return step.point == loggops::Point::arrival; }));
}

TEST(CriticalPath, OfAnyScheduleRunsWithoutAGapFromTheBeginningToTheFinishAndItsSpansSumUpToIt) {
    std::uint64_t messages = 0;
    for (std::uint64_t seed = 0; seed < testing::trials(2000); ++seed) {
        testing::Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(4), 1 + dice.small(20));
        try {
            const Recorded recorded = record_of(graph, machine);
            const std::vector<PathStep> path = critical_path(recorded.record, recorded.finish, machine);
            Time at = 0;
            Spans whole;
            for (const PathStep& step : path) {
                ASSERT_EQ(step.from, at) << "schedule " << seed;
                ASSERT_EQ(step.spans.total(), step.to - step.from);
                ASSERT_GE(step.spans.noise, 0);
                at = step.to;
                whole += step.spans;
            }
            ASSERT_EQ(at, last_of(recorded.finish));
            ASSERT_EQ(whole.total(), at);
            if (machine.noise.silent()) {
                ASSERT_EQ(whole.noise, 0) << "schedule " << seed;
            }
            messages += static_cast<std::uint64_t>(latencies_of(path));
        } catch (const Standstill&) {
            continue;
        }
    }
    EXPECT_GT(messages, testing::trials(2000));
}

TEST(CriticalPath, HasNoMoreLatenciesThanTheFinishHasSlopesWithoutNoise) {
    for (std::uint64_t seed = 0; seed < 500; seed += testing::stride(5)) {
        testing::Dice dice(seed);
        machine::Machine machine = testing::random_machine(dice);
        machine.noise = {};
        machine.node = {};
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(4), 1 + dice.small(20));
        try {
            const Recorded recorded = record_of(graph, machine);
            loggops::Differentiation<1> differentiation;
            const auto slopes =
                loggops::simulate(graph, machine, {.seed = 5, .threads = 1, .poll = {}}, differentiation);
            Time most = 0;
            for (const loggops::Slopes<1>& finish : slopes.finish) {
                most = finish.time == last_of(recorded.finish) ? std::max<Time>(most, finish.level(0).L) : most;
            }
            EXPECT_LE(latencies_of(critical_path(recorded.record, recorded.finish, machine)), most) << seed;
        } catch (const Standstill&) {
            continue;
        }
    }
}

TEST(Timeline, IsTheSameOnAnyNumberOfThreads) {
    testing::Dice dice(11);
    const goal::Graph graph = testing::random_schedule(dice, 40, 600);
    const machine::Machine machine = testing::random_machine(dice);
    const Recorded one = record_of(graph, machine);
    for (const std::uint32_t threads : {2U, 3U}) {
        const Recorded many = record_of(graph, machine, threads);
        const auto rows = op_rows(one.record, machine);
        const auto others = op_rows(many.record, machine);
        ASSERT_EQ(rows.size(), others.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(rows[i].wait, others[i].wait);
            ASSERT_EQ(rows[i].noise, others[i].noise);
            ASSERT_EQ(rows[i].state, others[i].state);
            ASSERT_EQ(std::tuple(rows[i].cause_rank, rows[i].cause_op, rows[i].match_rank, rows[i].match_op),
                      std::tuple(others[i].cause_rank, others[i].cause_op, others[i].match_rank, others[i].match_op));
        }
    }
}

/// L 100, o 10, g 30, 1 ps a byte on the wire; larger than 1000 bytes by rendezvous.
machine::Machine usual() {
    machine::Machine machine = testing::simple_machine(100, 10, 30, 1, 0);
    machine.network.S = 1000;
    return machine;
}

std::vector<OpRow> rows_of(const std::string& goal, const machine::Machine& machine) {
    const goal::Graph graph = goal::read_goal(goal, "test");
    return op_rows(record_of(graph, machine).record, machine);
}

TEST(WaitStates, AReceiveThatIsPostedBeforeItsMessageComesHasALateSender) {
    const auto rows = rows_of(
        "num_ranks 2\nrank 0 {\nc: calc 1\ns: send 1b to 1 tag 7\ns requires c\n}\n"
        "rank 1 {\nr: recv 1b from 0 tag 7\n}\n",
        usual());
    const OpRow& receive = rows[2];
    EXPECT_EQ(receive.state, WaitState::late_sender);
    EXPECT_EQ(receive.wait, 1000 + 10 + 100) << "until the reception begins";
    EXPECT_EQ(receive.work, 1110);
    EXPECT_EQ(receive.free, 1120);
    EXPECT_EQ(receive.op.end.time, 1120);
    EXPECT_EQ(receive.cause, CauseKind::message);
    EXPECT_EQ(receive.match_rank, 0);
    EXPECT_EQ(receive.match_op, 1);
    EXPECT_EQ(rows[1].state, WaitState::none) << "what a send requires is no wait";
    EXPECT_EQ(rows[1].cause, CauseKind::end);
    EXPECT_EQ(rows[1].cause_op, 0);
}

TEST(WaitStates, ARendezvousWhoseReceiveIsPostedLateHasALateReceiver) {
    const auto rows = rows_of(
        "num_ranks 2\nrank 0 {\ns: send 2000b to 1 tag 7\n}\n"
        "rank 1 {\nc: calc 5\nr: recv 2000b from 0 tag 7\nr requires c\n}\n",
        usual());
    const OpRow& send = rows[0];
    EXPECT_EQ(send.state, WaitState::late_receiver);
    // The request comes at 110; its reception takes the CPU when the calc is done, and the receive is posted then.
    EXPECT_EQ(send.wait, 5000 - 110);
    EXPECT_EQ(send.cause_rank, 1);
    EXPECT_EQ(send.cause_op, 1);
    EXPECT_EQ(rows[2].state, WaitState::none) << "the receive was not there to wait for the request";
}

TEST(WaitStates, OfASendThatWaitsForItsNicAndHasALateReceiverCountsTheLonger) {
    machine::Machine machine = usual();
    machine.network.segments[0].parameters.g = 3000;
    const auto rows = rows_of(
        "num_ranks 2\nrank 0 {\na: send 1b to 1 tag 1\ns: send 2000b to 1 tag 7\n}\n"
        "rank 1 {\na: recv 1b from 0 tag 1\nc: calc 4\nr: recv 2000b from 0 tag 7\nr requires c\n}\n",
        machine);
    EXPECT_EQ(rows[1].state, WaitState::nic) << "the request goes at 3000, comes at 3110, and is awaited from 4000 on";
    EXPECT_EQ(rows[1].wait, 3000);
    const auto later = rows_of(
        "num_ranks 2\nrank 0 {\na: send 1b to 1 tag 1\ns: send 2000b to 1 tag 7\n}\n"
        "rank 1 {\na: recv 1b from 0 tag 1\nc: calc 9\nr: recv 2000b from 0 tag 7\nr requires c\n}\n",
        machine);
    EXPECT_EQ(later[1].state, WaitState::late_receiver);
    EXPECT_EQ(later[1].wait, 9000 - 3110);
}

TEST(WaitStates, ARendezvousWhoseDataFindTheCpuBusyWaitsFromWhenTheyCome) {
    machine::Machine machine = usual();
    machine.network.segments[0].parameters.L = 5000;
    const auto rows = rows_of(
        "num_ranks 2\nrank 0 {\ns: send 2000b to 1 tag 7\n}\n"
        "rank 1 {\nc: calc 6\ne: calc 11 cpu 1\nd: calc 9\nr: recv 2000b from 0 tag 7\n"
        "r requires c\nd requires e\n}\n",
        machine);
    const OpRow& receive = rows[4];
    // Request 0 to 5010, received 6000 to 6010; clearance to 11020, received to 11030; data to 16040; calc to 20000.
    EXPECT_EQ(receive.op.data_arrived.time, 16040);
    EXPECT_EQ(receive.state, WaitState::cpu);
    EXPECT_EQ(receive.wait, 20000 - 16040);
    EXPECT_EQ(receive.cause_op, 2);
}

TEST(WaitStates, ASendWaitsForItsNicAndForItsCpu) {
    const auto rows = rows_of(
        "num_ranks 2\nrank 0 {\na: send 1b to 1 tag 1\nb: send 1b to 1 tag 2\nc: calc 1\n}\n"
        "rank 1 {\na: recv 1b from 0 tag 1\nb: recv 1b from 0 tag 2\n}\n",
        usual());
    EXPECT_EQ(rows[0].state, WaitState::none);
    EXPECT_EQ(rows[2].state, WaitState::cpu) << "the calc begins when the first send has left the CPU";
    EXPECT_EQ(rows[2].wait, 10);
    EXPECT_EQ(rows[2].cause_op, 0);
    EXPECT_EQ(rows[1].state, WaitState::cpu) << "the gap is over long before the calc is";
    EXPECT_EQ(rows[1].wait, 1010);
    const auto pair = rows_of(
        "num_ranks 2\nrank 0 {\na: send 1b to 1 tag 1\nb: send 1b to 1 tag 2\n}\n"
        "rank 1 {\na: recv 1b from 0 tag 1\nb: recv 1b from 0 tag 2\n}\n",
        usual());
    EXPECT_EQ(pair[1].state, WaitState::nic);
    EXPECT_EQ(pair[1].wait, 30);
    EXPECT_EQ(pair[1].cause, CauseKind::nic);
    EXPECT_EQ(pair[1].cause_op, 0);
}

// ---- one-sided operations

/// The same L, o, g and G for one-sided operations, completed by the network or by a CPU.
machine::Machine one_sided(machine::Progress progress) {
    machine::Machine machine = usual();
    machine.one_sided = machine.network;
    if (progress == machine::Progress::network) {
        machine.one_sided->segments[0].parameters.o_r = 0;
    }
    machine.progress = progress;
    return machine;
}

TEST(WaitStates, AnAwaitWhosePutComesLaterHasALateSender) {
    const std::string goal =
        "num_ranks 2\nrank 0 {\nc: calc 1\np: put 11b to 1 tag 7\np requires c\n}\n"
        "rank 1 {\na: await from 0 tag 7\nd: calc 1\nd requires a\n}\n";
    for (const auto progress : {machine::Progress::network, machine::Progress::cpu}) {
        const auto rows = rows_of(goal, one_sided(progress));
        const bool by_cpu = progress == machine::Progress::cpu;
        const OpRow& await = rows[2];
        EXPECT_EQ(await.state, WaitState::late_sender);
        EXPECT_EQ(await.wait, 1000 + 10 + 100);
        EXPECT_EQ(await.work, 1110);
        EXPECT_EQ(await.free, by_cpu ? 1120 : 1110);
        EXPECT_EQ(await.op.end.time, by_cpu ? 1130 : 1120);
        EXPECT_EQ(await.cause, CauseKind::message);
        EXPECT_EQ(std::tuple(await.cause_rank, await.cause_op), std::tuple(0, 1));
        EXPECT_EQ(std::tuple(await.match_rank, await.match_op), std::tuple(0, 1));
        EXPECT_EQ(rows[3].cause, CauseKind::end);
        EXPECT_EQ(std::tuple(rows[3].cause_rank, rows[3].cause_op), std::tuple(1, 0));
    }
}

TEST(WaitStates, AnAwaitWhosePutHasLandedDoesNotWait) {
    const auto rows = rows_of(
        "num_ranks 2\nrank 0 {\np: put 11b to 1 tag 7\n}\n"
        "rank 1 {\nc: calc 1\na: await from 0 tag 7\na requires c\n}\n",
        one_sided(machine::Progress::network));
    EXPECT_EQ(rows[2].state, WaitState::none);
    EXPECT_EQ(rows[2].wait, 0);
    EXPECT_EQ(rows[2].op.end.time, 1000);
    EXPECT_EQ(std::tuple(rows[2].match_rank, rows[2].match_op), std::tuple(0, 0));
    EXPECT_EQ(std::tuple(rows[2].cause, rows[2].cause_op), std::tuple(CauseKind::end, 0));
}

TEST(WaitStates, AnOpThatRequiresAPutIsLetStartByItsEnd) {
    const auto rows = rows_of(
        "num_ranks 2\nrank 0 {\np: put 11b to 1\nq: get 11b from 1\nq requires p\nc: calc 1\nc requires q\n}\n"
        "rank 1 {\n}\n",
        one_sided(machine::Progress::network));
    EXPECT_EQ(rows[0].op.end.time, 10 + 100 + 10 + 100);
    EXPECT_EQ(std::tuple(rows[0].work, rows[0].free), std::tuple(0, 10)) << "of its transmission";
    EXPECT_EQ(std::tuple(rows[1].cause, rows[1].cause_rank, rows[1].cause_op), std::tuple(CauseKind::end, 0, 0));
    EXPECT_EQ(std::tuple(rows[1].work, rows[1].free), std::tuple(220, 230));
    EXPECT_EQ(std::tuple(rows[2].cause, rows[2].cause_rank, rows[2].cause_op), std::tuple(CauseKind::end, 0, 1));
}

TEST(OpRows, TheCpusLastWorkForAGetIsTheReceptionOfItsReply) {
    const auto rows =
        rows_of("num_ranks 2\nrank 0 {\nq: get 11b from 1\n}\nrank 1 {\n}\n", one_sided(machine::Progress::cpu));
    const Time reply = (10 + 100 + 10) + (10 + 100);
    EXPECT_EQ(std::tuple(rows[0].work, rows[0].free, rows[0].op.end.time), std::tuple(reply, reply + 10, reply + 20));
}

TEST(WaitStates, ALockThatAnotherRankHasIsContended) {
    const auto rows = rows_of(
        "num_ranks 3\nrank 0 {\n}\n"
        "rank 1 {\nl: lock at 0\nc: calc 1\nu: unlock at 0\nc requires l\nu requires c\n}\n"
        "rank 2 {\nd: calc 0\nl: lock at 0\nl requires d\n}\n",
        one_sided(machine::Progress::network));
    EXPECT_EQ(rows[0].state, WaitState::none) << "nobody had it";
    EXPECT_EQ(rows[0].op.end.time, 210);
    const OpRow& lock = rows[4];
    EXPECT_EQ(lock.op.end.time, 1210 + 10 + 100 + 100);
    EXPECT_EQ(lock.state, WaitState::lock_contention);
    EXPECT_EQ(lock.wait, (1210 + 10 + 100) - (10 + 100)) << "from when its request comes until the unlock does";
    EXPECT_EQ(std::tuple(lock.cause, lock.cause_rank, lock.cause_op), std::tuple(CauseKind::message, 1, 2));
}

TEST(WaitStates, OfALockThatWaitsForItsNicAndForOthersTheLongerWaitCounts) {
    machine::Machine machine = one_sided(machine::Progress::network);
    machine.one_sided->segments[0].parameters.g = 3000;
    const std::string holder = "rank 1 {\nl: lock at 0\nc: calc %\nu: unlock at 0\nc requires l\nu requires c\n}\n";
    const auto waits = [&](const std::string& time) {
        std::string text =
            "num_ranks 3\nrank 0 {\n}\n" + holder + "rank 2 {\np: put 1b to 1\nq: put 1b to 1\nl: lock at 0\n}\n";
        text.replace(text.find('%'), 1, time);
        return rows_of(text, machine)[5];
    };
    EXPECT_EQ(waits("7").state, WaitState::nic) << "the request comes at 6110, the unlock lands at 9110";
    EXPECT_EQ(waits("7").wait, (10 + 2 * 3000) - 3 * 10) << "from when the NIC has the request until it transmits it";
    EXPECT_EQ(waits("20").state, WaitState::lock_contention);
    EXPECT_EQ(waits("20").wait, 20'320 - 6110);
}

TEST(WaitStates, TheUnlockThatALockWaitedForIsNamedAlsoIfItWaitedForTheNic) {
    // Rank 3's put of 2000 bytes keeps the NIC of rank 0 when the unlock comes.
    const auto rows = rows_of(
        "num_ranks 4\nrank 0 {\n}\n"
        "rank 1 {\nl: lock at 0\nc: calc 1\nu: unlock at 0\nc requires l\nu requires c\n}\n"
        "rank 2 {\nd: calc 0\nl: lock at 0\nl requires d\n}\n"
        "rank 3 {\ne: calc 1\np: put 2000b to 0\np requires e\n}\n",
        one_sided(machine::Progress::network));
    const OpRow& lock = rows[4];
    EXPECT_EQ(lock.wait, (1110 + 30 + 1999) - (10 + 100));
    EXPECT_EQ(std::tuple(lock.state, lock.cause_rank, lock.cause_op), std::tuple(WaitState::lock_contention, 1, 2));
}

TEST(OpRows, NoiseIsTheTimeThatDetoursTook) {
    machine::Machine machine = usual();
    machine.noise = machine::NoiseTrace({{2000, 300}}, 10'000, machine::Phase::given, {0});
    const auto rows = rows_of("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 4\nb requires a\n}\n", machine);
    EXPECT_EQ(rows[0].noise, 0);
    EXPECT_EQ(rows[1].noise, 300);
}

TEST(OpRows, EveryReceiveNamesTheSendWhoseMessageItTook) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        testing::Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 3, 15);
        try {
            const Recorded recorded = record_of(graph, machine);
            std::vector<std::vector<bool>> taken;
            for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
                taken.emplace_back(graph.size(r));
            }
            for (const OpRow& row : op_rows(recorded.record, machine)) {
                if (row.op.kind != goal::OpKind::recv) {
                    continue;
                }
                const auto rank = static_cast<std::uint32_t>(row.match_rank);
                const auto op_index = static_cast<goal::OpIndex>(row.match_op);
                const goal::Op sent = graph.op(rank, op_index);
                EXPECT_EQ(sent.kind, goal::OpKind::send);
                EXPECT_EQ(sent.peer, row.op.rank);
                EXPECT_TRUE(row.op.peer == goal::any || row.op.peer == rank);
                EXPECT_TRUE(row.op.tag == goal::any || sent.tag == goal::any || row.op.tag == sent.tag);
                EXPECT_FALSE(taken[rank][op_index]) << "one message, one receive";
                taken[rank][op_index] = true;
            }
        } catch (const Standstill&) {
            continue;
        }
    }
}

/// Compares the record of some ranks and times with that part of the whole; returns of how many ops it is.
std::size_t expect_part_of_the_whole(const goal::Graph& graph, const machine::Machine& machine) {
    const auto rows = op_rows(record_of(graph, machine).record, machine);
    const loggops::RecordingScope recording{.first = 1, .last = 3, .from = 50, .until = 400};
    loggops::Recorder recorder(graph.ranks(), recording);
    loggops::simulate(graph, machine, {.seed = 5, .threads = 1, .poll = {}}, recorder);
    const auto part = op_rows(recorder.take(), machine);
    std::size_t i = 0;
    for (const OpRow& row : rows) {
        if (!recording.holds(row.op.rank, row.op.start.time)) {
            continue;
        }
        if (i == part.size()) {
            ADD_FAILURE() << "more ops than were recorded";
            break;
        }
        EXPECT_EQ(testing::as_tuple(part[i].op), testing::as_tuple(row.op));
        EXPECT_EQ(part[i].match_rank, row.match_rank);
        const bool sender_in =
            row.match_rank >= 1 && row.match_rank <= 3 && row.op.arrived.time < 400 && row.op.arrived.time > 250;
        EXPECT_TRUE(part[i].match_op == row.match_op || (part[i].match_op == -1 && !sender_in));
        if (row.op.kind != goal::OpKind::recv && row.state != WaitState::late_receiver) {
            EXPECT_EQ(std::tuple(part[i].wait, part[i].state, part[i].work, part[i].free, part[i].noise),
                      std::tuple(row.wait, row.state, row.work, row.free, row.noise));
        }
        ++i;
    }
    EXPECT_EQ(i, part.size());
    return i;
}

TEST(Recorder, APartOfTheRecordIsThatPartOfTheWhole) {
    std::size_t ops = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        testing::Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 6, 60);
        try {
            ops += expect_part_of_the_whole(graph, machine);
        } catch (const Standstill&) {
            continue;
        }
    }
    EXPECT_GT(ops, 50U);
}

TEST(Recorder, WhatEndsAnOpIsKeptThoughItBeginsAfterTheWindow) {
    const goal::Graph graph = goal::read_goal(
        "num_ranks 2\nrank 0 {\nc: calc 1\ns: send 1b to 1 tag 7\ns requires c\n}\n"
        "rank 1 {\nr: recv 1b from 0 tag 7\n}\n",
        "test");
    loggops::Recorder recorder(2, {.until = 500});
    loggops::simulate(graph, usual(), {.seed = 0, .threads = 1, .poll = {}}, recorder);
    const auto rows = op_rows(recorder.take(), usual());
    ASSERT_EQ(rows.size(), 2U) << "the send starts later";
    EXPECT_EQ(rows[1].wait, 1110);
    EXPECT_EQ(rows[1].work, 1110);
    EXPECT_EQ(rows[1].free, 1120);
    EXPECT_EQ(rows[1].match_rank, 0);
    EXPECT_EQ(rows[1].match_op, -1) << "it was left out";
}

TEST(Recorder, RefusesToTakeMoreMemoryThanAllowed) {
    testing::Dice dice(17);
    const goal::Graph graph = testing::random_schedule(dice, 6, 60);
    loggops::Recorder recorder(graph.ranks(), {.most_bytes = 5000});
    try {
        loggops::simulate(graph, usual(), {.seed = 5, .threads = 1, .poll = {}}, recorder);
        FAIL() << "it took more";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("more than 5000 bytes"), std::string::npos);
    }
}

TEST(MatchingQueues, CountWhatWaitsForItsMatch) {
    const goal::Graph graph = goal::read_goal(
        "num_ranks 2\nrank 0 {\na: send 1b to 1 tag 1\nb: send 1b to 1 tag 2\n}\n"
        "rank 1 {\nc: calc 9\nr: recv 1b from 0 tag 2\nr requires c\nq: recv 1b from 0 tag 1\n}\n",
        "test");
    const loggops::SimulationRecord record = record_of(graph, usual()).record;
    const loggops::QueueRecord& queue = record.queues[1];
    EXPECT_EQ(queue.arrivals, 2U);
    EXPECT_EQ(queue.unexpected, 1U) << "the first finds its receive";
    EXPECT_EQ(queue.most_posted, 1U);
    EXPECT_EQ(queue.receives, 2U);
    EXPECT_EQ(queue.matched_unexpected, 1U);
    EXPECT_EQ(queue.most_unexpected, 1U);
}

TEST(CallNames, AreThoseOfTheAlgorithmsAndThePatterns) {
    EXPECT_EQ(collectives::call_name(0).operation, "");
    EXPECT_EQ(collectives::call_name(1).operation, "barrier");
    EXPECT_TRUE(collectives::call_name(1).collective);
    std::uint16_t number = 1;
    while (!collectives::call_name(number).operation.empty()) {
        ++number;
    }
    EXPECT_FALSE(collectives::call_name(static_cast<std::uint16_t>(number - 1)).collective) << "patterns come last";
}

}  // namespace
}  // namespace idlewave::timeline
