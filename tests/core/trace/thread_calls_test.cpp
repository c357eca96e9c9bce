#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "collectives/threaded_program.hpp"
#include "converted_trace.hpp"
#include "goal/goal_writer.hpp"
#include "outcome.hpp"
#include "threaded_run.hpp"
#include "trace/computations.hpp"
#include "trace/convert.hpp"
#include "trace/thread_cpus.hpp"
#include "trials.hpp"
#include "written_out.hpp"

namespace idlewave::trace {
namespace {

using testing::beside;
using testing::no_root;
using testing::pair;
using testing::rank_of_two;
using testing::TraceBytes;
using testing::world;

collectives::ThreadedProgramSource threaded(const std::vector<TraceBytes>& files, const ConvertOptions& options = {}) {
    return {std::make_shared<const collectives::Program>(convert(testing::trace_of(files), options)), 1};
}

std::string statements(const std::vector<TraceBytes>& files, std::uint32_t rank = 0) {
    std::string text;
    goal::write_rank(text, rank, threaded(files).rank_schedule(rank));
    const std::size_t begin = text.find('\n', 1) + 1;
    return text.substr(begin, text.size() - begin - 2);
}

/// A machine without any costs but the latency, 1 us.
machine::Machine far_apart() {
    return testing::simple_machine(1'000'000, 0, 0, 0, 0);
}

TEST(Threads, EachThreadsCallsStandInItsOwnOrderOnItsOwnCpu) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::send, 1010, 1020, {world, pair(1, 1), 8})
                                .thread(1, 1020)
                                .call(Call::send, 1050, 1150, {world, pair(1, 2), 8})
                                .thread(0, 1150)
                                .call(Call::send, 1100, 1200, {world, pair(1, 3), 8})
                                .thread(1, 1200)
                                .call(Call::send, 1170, 1300, {world, pair(1, 4), 8});
    EXPECT_EQ(statements(beside(file)),
              "l1: calc 10\nl2: send 8b to 1 tag 1\nl3: calc 80\nl4: send 8b to 1 tag 3\n"
              "l5: calc 30 cpu 1\nl6: send 8b to 1 tag 2 cpu 1\nl7: calc 20 cpu 1\nl8: send 8b to 1 tag 4 cpu 1\n"
              "l2 requires l1\nl3 requires l2\nl4 requires l3\n"
              "l5 requires l2\nl6 requires l5\nl7 requires l6\nl8 requires l7\n");
}

TEST(Threads, FinalizeFollowsTheLastCallsOfAll) {
    const TraceBytes file = rank_of_two(0)
                                .thread(1, 1000)
                                .call(Call::send, 1010, 1100, {world, pair(1, 1), 8})
                                .thread(2, 1100)
                                .call(Call::send, 1020, 1200, {world, pair(1, 2), 8})
                                .thread(0, 1200)
                                .call(Call::finalize, 1250, 1300, {});
    EXPECT_EQ(statements(beside(file)),
              "l1: calc 50\nl2: calc 10 cpu 1\nl3: send 8b to 1 tag 1 cpu 1\nl4: calc 20 cpu 2\n"
              "l5: send 8b to 1 tag 2 cpu 2\nl1 requires l3\nl1 requires l5\nl3 requires l2\nl5 requires l4\n");
}

TEST(Threads, OfMoreThanCpusALaterOneFollowsTheOneThatHadItsCpuBefore) {
    TraceBytes file = rank_of_two(0);
    constexpr std::uint32_t threads = most_cpus;  // beside the first one
    for (std::uint32_t number = 1; number <= threads; ++number) {
        const std::int64_t begin = 1000 + 100 * number;
        file.thread(number, begin - 90).call(Call::send, begin, begin + 10, {world, pair(1, 1), 8});
    }
    file.thread(0, 40'000).call(Call::finalize, 40'010, 40'020, {});
    const auto traced = testing::trace_of(beside(file));
    const auto program = convert(traced, {});
    EXPECT_EQ(program.ranks[threads - 1].cpu, threads - 1);
    EXPECT_EQ(program.ranks[threads].cpu, 1);
    std::vector<std::int64_t> found;
    for (const ComputationRow& row : computations_of(traced.ranks, false).rows) {
        if (row.rank == 0) {
            found.push_back(row.ns);
        }
    }
    EXPECT_EQ(found[threads - 2], 100 * (threads - 1)) << "since MPI_Init";
    EXPECT_EQ(found[threads - 1], 100 * (threads - 1) - 10) << "since the call of the thread before";
}

TEST(Threads, EachDrawsFromItsOwnComputations) {
    TraceBytes file = rank_of_two(0);
    for (std::int64_t now = 1000; now < 5000; now += 1000) {
        file.thread(1, now).call(Call::send, now + 100, now + 110, {world, pair(1, 1), 8});
        file.thread(2, now + 110).call(Call::send, now + 500, now + 510, {world, pair(1, 2), 8});
    }
    ConvertOptions drawn;
    drawn.computation.drawn = true;
    const auto program = convert(testing::trace_of(beside(file)), drawn);
    for (std::uint32_t thread : {1U, 2U}) {
        std::set<std::uint64_t> known;
        std::int64_t last = 1000;
        for (std::int64_t now = 1000; now < 5000; now += 1000) {
            known.insert(static_cast<std::uint64_t>(now + (thread == 1 ? 100 : 500) - last));
            last = now + (thread == 1 ? 110 : 510);
        }
        program.ranks[thread].instructions.each([&](const collectives::Instruction& i) {
            EXPECT_TRUE(i.kind != collectives::Instruction::Kind::calc || known.contains(i.size)) << i.size;
        });
    }
}

/// A wait for a core has the time of the record before, which may be after the begin of its call.
TEST(Threads, AThreadsWaitsForACoreAreNoComputationOfIt) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::send, 1010, 1100, {world, pair(1, 1), 8})
                                .thread(1, 1100)
                                .call(Call::core_wait, 1100, 1100, {0, 5, 0})
                                .call(Call::send, 1050, 1150, {world, pair(1, 2), 8})
                                .call(Call::core_wait, 1150, 1150, {20, 0, 3})
                                .call(Call::send, 1200, 1210, {world, pair(1, 3), 8});
    EXPECT_EQ(statements(beside(file)),
              "l1: calc 10\nl2: send 8b to 1 tag 1\nl3: calc 50 cpu 1\nl4: send 8b to 1 tag 2 cpu 1\n"
              "l5: calc 27 cpu 1\nl6: send 8b to 1 tag 3 cpu 1\n"
              "l2 requires l1\nl4 requires l3\nl5 requires l4\nl6 requires l5\n");
}

TEST(Threads, AThreadMayWaitForARequestOfAnother) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::irecv, 1000, 1000, {world, pair(1, 1), 8, 7})
                                .thread(1, 1000)
                                .call(Call::wait, 1050, 1100, {7, pair(1, 1), 8})
                                .call(Call::send, 1120, 1130, {world, pair(1, 2), 8})
                                .thread(0, 1130)
                                .call(Call::irecv, 1140, 1140, {world, pair(1, 3), 8, 7})
                                .call(Call::wait, 1140, 1150, {7, pair(1, 3), 8});
    EXPECT_EQ(statements(beside(file)),
              "l1: recv 8b from 1 tag 1\nl2: calc 140\nl3: recv 8b from 1 tag 3\n"
              "l4: calc 50 cpu 1\nl5: calc 20 cpu 1\nl6: send 8b to 1 tag 2 cpu 1\n"
              "l2 irequires l1\nl3 requires l2\nl4 irequires l1\nl5 requires l1\nl5 requires l4\nl6 requires l5\n");
}

/// The handle of a completed receive is another thread's persistent request before the wait is recorded.
TEST(Threads, FreeingARequestThatWasNotStartedLeavesTheOneOfAnotherThread) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::irecv, 1000, 1000, {world, pair(1, 1), 8, 7})
                                .thread(1, 1000)
                                .call(Call::send_init, 1080, 1085, {world, pair(1, 2), 8, 7})
                                .call(Call::request_free, 1090, 1092, {7})
                                .thread(0, 1092)
                                .call(Call::wait, 1050, 1100, {7, pair(1, 1), 8})
                                .call(Call::send, 1120, 1130, {world, pair(1, 3), 8});
    const std::string text = statements(beside(file));
    EXPECT_NE(text.find("l1: recv 8b from 1 tag 1\nl2: calc 50\nl3: calc 20\nl4: send 8b to 1 tag 3\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("l3 requires l1\n"), std::string::npos) << text;
}

/// Requests of a collective, of both halves of an MPI_Isendrecv, and of a send, again and again with the same handles.
TEST(Threads, AThreadWaitsForRequestsOfEveryKind) {
    const auto file = [](std::uint32_t rank) {
        const auto other = static_cast<std::int32_t>(1 - rank);
        const std::uint64_t envelope = pair(other, 4);
        TraceBytes bytes = rank_of_two(rank);
        std::int64_t now = 1000;
        for (int round = 0; round < 3; ++round) {
            bytes.thread(round == 0 ? 1 : 0, now)
                .call(static_cast<Call>(128 + 3), now, now + 1, {world, no_root, 7, 8, 8})
                .call(Call::isendrecv, now + 1, now + 2, {world, envelope, 8, envelope, 8, 8})
                .call(Call::isend, now + 2, now + 3, {world, pair(other, 5), 8, 9})
                .thread(round == 0 ? 0 : 2, now + 3)
                .call(Call::waitall, now + 10, now + 20, {9, 0, 0, 8, envelope, 8, 7, 0, 0})
                .call(Call::recv, now + 20, now + 30, {world, pair(other, 5), 8, pair(other, 5), 8})
                .thread(1, now + 30)
                .call(Call::send, now + 40, now + 41, {world, pair(other, 6), 8})
                .call(Call::recv, now + 41, now + 42, {world, pair(other, 6), 8, pair(other, 6), 8});
            now += 50;
        }
        return bytes.thread(0, now).call(Call::finalize, now, now + 1, {});
    };
    const auto source = threaded({file(0), file(1)});
    const testing::Outcome outcome = testing::outcome_of(source, far_apart());
    EXPECT_EQ(outcome.standstill, "");
    EXPECT_EQ(outcome.messages, 3U * 2 * 4);
    EXPECT_EQ(outcome, testing::outcome_of(testing::written_out(source), far_apart()));
}

/// Ranks of which two threads each send to the same thread of the other, with one tag and at one time, and receive so.
TEST(Threads, MessagesGoBetweenTheThreadsBetweenWhichTheyWent) {
    const auto file = [](std::uint32_t rank) {
        const auto other = static_cast<std::int32_t>(1 - rank);
        return rank_of_two(rank)
            .thread(1, 1000)
            .call(Call::send, 1000, 1010, {world, pair(other, 5), 8})
            .thread(2, 1010)
            .call(Call::send, 1005, 1020, {world, pair(other, 5), 16})
            .call(Call::recv, 1020, 1050, {world, pair(other, 5), 8, pair(other, 5), 8})
            .thread(1, 1050)
            .call(Call::recv, 1010, 1060, {world, pair(other, 5), 16, pair(other, 5), 16});
    };
    const auto source = threaded({file(0), file(1)});
    const goal::RankSchedule schedule = source.rank_schedule(0);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> sent;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> received;
    for (const goal::Op& op : schedule.ops) {
        if (op.kind != goal::OpKind::calc) {
            (op.kind == goal::OpKind::send ? sent : received).emplace_back(op.size, op.tag);
        }
    }
    std::ranges::sort(sent);
    std::ranges::sort(received);
    EXPECT_EQ(sent, received);
    EXPECT_NE(sent[0].second, sent[1].second);
}

/// Thread 2 began its receive after thread 1, but had the message first: the message by which it comes to the send for
/// which thread 1 waits.
TEST(Threads, AReceiveThatWasCompleteFirstTakesTheFirstMessage) {
    const std::vector<TraceBytes> files{rank_of_two(0)
                                            .thread(1, 1000)
                                            .thread(2, 1000)
                                            .call(Call::recv, 1020, 1100, {world, pair(1, 5), 8, pair(1, 5), 8})
                                            .call(Call::send, 1110, 1120, {world, pair(1, 6), 8})
                                            .thread(1, 1120)
                                            .call(Call::recv, 1010, 1300, {world, pair(1, 5), 8, pair(1, 5), 8}),
                                        rank_of_two(1)
                                            .call(Call::send, 1030, 1040, {world, pair(0, 5), 8})
                                            .call(Call::recv, 1050, 1200, {world, pair(0, 6), 8, pair(0, 6), 8})
                                            .call(Call::send, 1210, 1220, {world, pair(0, 5), 8})};
    const testing::Outcome outcome = testing::outcome_of(threaded(files), far_apart());
    EXPECT_EQ(outcome.standstill, "");
    EXPECT_EQ(outcome.messages, 3U);
}

TEST(Threads, CollectivesOfOneCommunicatorMatchWhicheverThreadsCallThem) {
    const auto allreduce = static_cast<Call>(64 + 3);
    const auto file = [&](std::uint32_t rank, std::uint64_t first, std::uint64_t second) {
        return rank_of_two(rank)
            .call(allreduce, 1000, 1010, {world, no_root, 8, 8})
            .thread(1, 1010)
            .call(Call::send, 1011, 1012, {world, pair(static_cast<std::int32_t>(1 - rank), 9), 0})
            .thread(2, 1012)
            .call(Call::recv, 1012, 1013,
                  {world, pair(static_cast<std::int32_t>(1 - rank), 9), 0, pair(static_cast<std::int32_t>(1 - rank), 9),
                   0})
            .thread(first, 1013)
            .call(allreduce, 1020, 1030, {world, no_root, 8, 8})
            .thread(second, 1030)
            .call(allreduce, 1040, 1050, {world, no_root, 16, 16})
            .thread(first, 1050)
            .call(allreduce, 1060, 1070, {world, no_root, 32, 32});
    };
    const auto source = threaded({file(0, 1, 2), file(1, 2, 1)});
    const testing::Outcome outcome = testing::outcome_of(source, far_apart());
    EXPECT_EQ(outcome.standstill, "");
    EXPECT_EQ(outcome, testing::outcome_of(testing::written_out(source), far_apart()));
}

TEST(Threads, AThousandOneAfterTheOtherShareCpus) {
    TraceBytes file = rank_of_two(0);
    std::int64_t now = 1000;
    for (std::uint64_t thread = 1; thread < 1000; ++thread) {
        file.thread(thread, now).call(Call::send, now, now + 10, {world, pair(1, 1), 8});
        now += 10;
    }
    const auto source = threaded(beside(file));
    EXPECT_EQ(source.cpus(), most_cpus);
    EXPECT_EQ(source.rank_schedule(0).ops.size(), 999U + 998U);  // and the time from MPI_Init to each later thread
}

/// Whatever the machine, no thread waits for ever, as none did in the run.
TEST(Threads, EveryRunComesToItsEndOnEveryMachine) {
    for (std::uint64_t trial = 0; trial < testing::trials(4000); ++trial) {
        testing::Dice dice(trial);
        testing::ThreadedRun run(dice, 2 + dice.small(2), 2 + dice.small(3));
        const auto source = threaded(run.run(20 + dice.small(200)));
        const machine::Machine machine =
            testing::simple_machine(dice.between(0, 200'000), dice.between(0, 50'000), dice.between(0, 50'000), 0, 0);
        const testing::Outcome outcome = testing::outcome_of(source, machine);
        ASSERT_EQ(outcome.standstill, "") << "trial " << trial;
        ASSERT_EQ(outcome.messages, run.messages()) << "trial " << trial;
        ASSERT_EQ(outcome, testing::outcome_of(testing::written_out(source), machine)) << "trial " << trial;
    }
}

std::string refused(const std::vector<TraceBytes>& files, const ConvertOptions& options = {}) {
    try {
        convert(testing::trace_of(files), options);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Threads, RefusesMoreAtATimeThanARankHasCpus) {
    TraceBytes file = rank_of_two(0);
    for (std::uint64_t thread = 1; thread < 257; ++thread) {
        file.thread(thread, 2000).call(Call::send, 1000, 2000, {world, pair(1, 1), 8});
    }
    EXPECT_EQ(
        refused(beside(file)),
        "rank0: rank 0 has more than 256 threads that call MPI at a time: expected 256 at most, as many as a rank "
        "of a schedule has CPUs");
}

TEST(Threads, RefusesAThreadWhoseNumberIsTooHigh) {
    const TraceBytes file = rank_of_two(0).thread(2, 1000);
    EXPECT_THROW(
        {
            try {
                static_cast<void>(file.read());
            } catch (const InputError& error) {
                EXPECT_STREQ(error.what(), "rank0: byte 256: expected a thread from 0 to 1, found 2");
                throw;
            }
        },
        InputError);
}

TEST(Threads, RefusesAStretchAndReceivesOfAnySource) {
    const TraceBytes file = rank_of_two(0)
                                .thread(1, 1000)
                                .call(Call::recv, 1000, 1100, {world, pair(any_source, 1), 8, pair(1, 1), 8})
                                .thread(0, 1100)
                                .call(Call::recv, 1000, 1200, {world, pair(any_source, 2), 8, pair(1, 2), 8});
    const std::vector<TraceBytes> files = beside(file);
    ConvertOptions stretch;
    stretch.from = {TracePoint::Kind::calls, 1};
    ConvertOptions any;
    any.resolve_wildcards = false;
    EXPECT_EQ(
        refused(files, stretch),
        "rank0: rank 0 calls MPI in 2 threads: expected one thread a rank, to use a run from a point on, or up to "
        "one");
    EXPECT_EQ(
        refused(files, any),
        "rank0: rank 0 calls MPI in 2 threads, and rank 0 has receives that name no source: expected them to take "
        "the messages that they took in the run, as others may leave a thread waiting for ever");
    EXPECT_EQ(refused(files), "");
}

}  // namespace
}  // namespace idlewave::trace
