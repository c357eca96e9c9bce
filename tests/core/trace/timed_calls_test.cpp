#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "converted_trace.hpp"
#include "goal/op_words.hpp"
#include "trace/convert.hpp"

/// One-sided communication becomes one-sided ops, and messages for its synchronisation; files become the time that they
/// took.
namespace idlewave::trace {
namespace {

using testing::barrier;
using testing::beside;
using testing::goal;
using testing::no_root;
using testing::pair;
using testing::program_of;
using testing::rank_of_two;
using testing::refusal;
using testing::TraceBytes;
using testing::world;

constexpr std::uint64_t window = 0x77;
constexpr std::uint64_t file = 0x88;

/// Word, size and peer of the ops of a rank: "calc 200", "send 8 1".
std::vector<std::string> ops(const std::vector<TraceBytes>& files, std::uint32_t rank) {
    std::vector<std::string> found;
    for (const goal::Op& op : program_of(files).rank_schedule(rank).ops) {
        const std::string size = " " + std::to_string(op.size);
        const std::string peer = " " + std::to_string(op.peer);
        found.push_back(std::string(word_of(op.kind)) + size + (op.kind == goal::OpKind::calc ? "" : peer));
    }
    return found;
}

/// Both ranks make a window at 1,000 ns.
std::vector<TraceBytes> with_window() {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (TraceBytes& rank : files) {
        rank.call(Call::window, 1000, 1500, {window, world, 0});
    }
    return files;
}

TEST(ConvertOneSidedCalls, WindowsAndFencesAreBarriers) {
    std::vector<TraceBytes> files = with_window();
    std::vector<TraceBytes> barriers{rank_of_two(0), rank_of_two(1)};
    for (const std::size_t rank : {0, 1}) {
        files[rank].call(Call::win_fence, 1700, 1900, {window}).call(Call::window_free, 1900, 2000, {window});
        barriers[rank]
            .call(barrier, 1000, 1500, {world, no_root, 0, 0})
            .call(barrier, 1700, 1900, {world, no_root, 0, 0})
            .call(barrier, 1900, 2000, {world, no_root, 0, 0});
    }
    EXPECT_EQ(ops(files, 0), ops(barriers, 0));
    EXPECT_EQ(ops(files, 1), ops(barriers, 1));
}

TEST(ConvertOneSidedCalls, ABarrierOfAWindowIsNotOneOfItsCommunicator) {
    constexpr auto ibarrier = static_cast<Call>(128);
    std::vector<TraceBytes> files = with_window();
    files[0].call(ibarrier, 2000, 2000, {world, no_root, 5, 0, 0}).call(Call::win_fence, 2000, 2000, {window});
    files[1].call(Call::win_fence, 2000, 2000, {window}).call(ibarrier, 2000, 2000, {world, no_root, 5, 0, 0});
    const collectives::ProgramSource program = program_of(files);
    const auto tags = [&](std::uint32_t rank, goal::OpKind kind) {
        std::vector<std::uint32_t> found;
        for (const goal::Op& op : program.rank_schedule(rank).ops) {
            if (op.kind == kind) {
                found.push_back(op.tag);
            }
        }
        return found;
    };
    const std::vector<std::uint32_t> sent = tags(0, goal::OpKind::send);
    const std::vector<std::uint32_t> received = tags(1, goal::OpKind::recv);
    ASSERT_EQ(sent.size(), 3U);
    ASSERT_EQ(received.size(), 3U);
    EXPECT_EQ(sent[0], received[0]) << "of making the window";
    EXPECT_EQ(sent[1], received[2]) << "the barrier";
    EXPECT_EQ(sent[2], received[1]) << "the fence";
}

/// The ops of a rank behind the first ones.
std::vector<std::string> ops_behind(const std::vector<TraceBytes>& files, std::uint32_t rank, std::size_t first) {
    const std::vector<std::string> found = ops(files, rank);
    return {found.begin() + static_cast<std::ptrdiff_t>(first), found.end()};
}

/// A lock, a put, a get with a request, and their completion.
std::vector<TraceBytes> with_accesses() {
    std::vector<TraceBytes> files = with_window();
    files[0]
        .call(Call::passive_target, 1500, 1600, {window, pair(1, 6)})
        .call(Call::one_sided, 1600, 1800, {window, pair(1, 0), 24, 0})
        .call(Call::one_sided, 1800, 1850, {window, pair(1, 1), 0, 1000, 9})
        .call(Call::wait, 1900, 2200, {9, pair(0, 0), 0})
        .call(Call::passive_target, 2200, 2300, {window, pair(1, 1)});
    return files;
}

TEST(ConvertOneSidedCalls, PutsGetsAndLocksAreOps) {
    const std::size_t before = ops(with_window(), 0).size();
    const std::vector<TraceBytes> files = with_accesses();
    EXPECT_EQ(ops_behind(files, 0, before),
              (std::vector<std::string>{"lock 1 1", "put 24 1", "get 1000 1", "calc 50", "unlock 1 1"}));
    EXPECT_EQ(program_of(files).program()->one_sided.calls, 0U);
    EXPECT_TRUE(program_of(files).has_one_sided());
}

TEST(ConvertOneSidedCalls, AccessesWaitForTheirLockAndTheUnlockForThem) {
    const std::string text = goal(with_accesses(), 0);
    for (const char* line : {"l3: lock at 1", "l4: put 24b to 1", "l5: get 1000b from 1", "l7: unlock at 1",
                             "l4 requires l3", "l5 irequires l4", "l7 requires l4", "l7 requires l5"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << ":\n" << text;
    }
}

TEST(ConvertOneSidedCalls, AFlushWaitsForThoseToItsTargetAndAFenceForAll) {
    std::vector<TraceBytes> files = with_window();
    files[0]
        .call(Call::one_sided, 1500, 1500, {window, pair(0, 0), 11, 0})
        .call(Call::one_sided, 1500, 1500, {window, pair(1, 0), 12, 0})
        .call(Call::passive_target, 1500, 1500, {window, pair(1, 2)})
        .call(Call::send, 2000, 2000, {world, pair(1, 3), 8})
        .call(Call::win_fence, 2000, 2000, {window});
    files[1]
        .call(Call::recv, 2000, 2000, {world, pair(0, 3), 8, pair(0, 3), 8})
        .call(Call::win_fence, 2000, 2000, {window});
    const goal::RankSchedule schedule = program_of(files).rank_schedule(0);
    const auto index_of = [&schedule](goal::OpKind kind, std::uint64_t size) {
        for (goal::OpIndex i = 0; i < schedule.ops.size(); ++i) {
            if (schedule.ops[i].kind == kind && schedule.ops[i].size == size) {
                return i;
            }
        }
        return goal::unknown_op_index;
    };
    const auto waited_for = [&schedule](goal::OpIndex op) {
        std::vector<goal::OpIndex> found;
        for (const goal::Requirement& r : schedule.requirements) {
            if (r.predecessor == op && r.edge == goal::Edge::end) {
                found.push_back(r.successor);
            }
        }
        return found;
    };
    const goal::OpIndex calc = index_of(goal::OpKind::calc, 500);
    EXPECT_EQ(waited_for(index_of(goal::OpKind::put, 12)), std::vector{calc}) << "what follows the flush";
    const std::vector<goal::OpIndex> others = waited_for(index_of(goal::OpKind::put, 11));
    ASSERT_FALSE(others.empty());
    EXPECT_GT(others.front(), index_of(goal::OpKind::send, 8)) << "the fence, behind the send";
}

/// The schedule after a put and a get with requests, and a call that completes some of them, and the wait for both.
std::string around(std::int32_t step) {
    std::vector<TraceBytes> files = with_window();
    files[0]
        .call(Call::one_sided, 1500, 1500, {window, pair(1, 0), 24, 0, 8})
        .call(Call::one_sided, 1500, 1500, {window, pair(1, 1), 0, 1000, 9})
        .call(Call::passive_target, 1500, 1500, {window, pair(1, step)})
        .call(Call::wait, 1600, 1600, {8, pair(0, 0), 0, 9, pair(0, 0), 0});
    return goal(files, 0);
}

TEST(ConvertOneSidedCalls, AFlushWaitsForOperationsWithRequestsToo) {
    const std::string flushed = around(2);
    EXPECT_NE(flushed.find("l5: calc 100"), std::string::npos) << flushed;
    EXPECT_NE(flushed.find("l5 requires l3"), std::string::npos) << flushed;
    EXPECT_NE(flushed.find("l5 requires l4"), std::string::npos) << flushed;
}

TEST(ConvertOneSidedCalls, AFlushOfLocalBuffersWaitsForGets) {
    const std::string flushed = around(3);
    EXPECT_EQ(flushed.find("l5 requires l3"), std::string::npos) << flushed;
    EXPECT_NE(flushed.find("l5 requires l4"), std::string::npos) << flushed;
}

TEST(ConvertOneSidedCalls, ALockOfAnOlderTraceIsShared) {
    std::vector<TraceBytes> files = with_window();
    files[0].call(Call::passive_target, 1500, 1500, {window, pair(1, 0)});
    EXPECT_EQ(ops(files, 0).back(), "shared_lock 1 1");
    files[0].call(Call::passive_target, 1500, 1500, {window, pair(1, 5)});
    EXPECT_NE(refusal(files).find("locks rank 1 again"), std::string::npos);
}

TEST(ConvertOneSidedCalls, ATargetThatIsNoRankIsRefusedAndOneThatIsNoneIsNoOp) {
    std::vector<TraceBytes> files = with_window();
    const std::size_t before = ops(files, 0).size();
    files[0].call(Call::one_sided, 1500, 1500, {window, pair(proc_null, 0), 24, 0});
    EXPECT_EQ(ops(files, 0).size(), before);
    for (const std::int32_t target : {-1, 2}) {
        std::vector<TraceBytes> wrong = with_window();
        wrong[0].call(Call::one_sided, 1500, 1500, {window, pair(target, 0), 24, 0});
        EXPECT_NE(refusal(wrong).find("rank 0, call 2"), std::string::npos) << refusal(wrong);
    }
}

/// The options of a conversion that uses a part of a run.
ConvertOptions of_a_part() {
    ConvertOptions options;
    options.from = {.kind = TracePoint::Kind::calls, .value = 1};
    return options;
}

TEST(ConvertOneSidedCalls, InAPartOfARunTheyAreTheTimeThatTheyTook) {
    const std::vector<TraceBytes> files = with_accesses();
    const collectives::TimedCalls one_sided = program_of(files, of_a_part()).program()->one_sided;
    EXPECT_EQ(one_sided.calls, 2U);
    EXPECT_EQ(one_sided.bytes, 1024U);
    EXPECT_EQ(one_sided.ns, 750) << "without the 50 ns between two calls";
}

TEST(ConvertOneSidedCalls, AWaitForACoreInsideACallIsNoTimeOfIt) {
    std::vector<TraceBytes> files = with_window();
    files[0]
        .call(Call::core_wait, 1500, 1500, {0, 150, 0})
        .call(Call::one_sided, 1500, 1700, {window, pair(1, 0), 24, 0})
        .call(Call::one_sided, 1700, 1730, {window, pair(1, 0), 24, 0});
    ConvertOptions options = of_a_part();
    EXPECT_NE(goal(files, 0, options).find("calc 80"), std::string::npos) << "50 of the first and 30 of the second";
    options.wall_gaps = true;
    EXPECT_NE(goal(files, 0, options).find("calc 230"), std::string::npos);
}

TEST(ConvertWaits, NoneIsLongerThanWhatItIsTakenFrom) {
    constexpr std::uint64_t longest = std::uint64_t{1} << 60;
    TraceBytes rank = rank_of_two(0);
    for (int i = 0; i < 20; ++i) {
        rank.call(Call::core_wait, 2000, 2000, {longest, longest, longest});
    }
    rank.call(Call::send, 3000, 3000, {world, pair(1, 3), 8}).call(Call::send, 3500, 3500, {world, pair(1, 3), 8});
    EXPECT_EQ(goal(beside(rank)),
              "l1: send 8b to 1 tag 3\nl2: calc 500\nl3: send 8b to 1 tag 3\nl2 requires l1\nl3 requires l2\n");
    rank.call(Call::core_wait, 4000, 4000, {0, longest + 1, 0}).call(Call::send, 4000, 4000, {world, pair(1, 3), 8});
    EXPECT_NE(refusal(beside(rank)).find("expected a time"), std::string::npos);
}

TEST(ConvertOneSidedCalls, ATargetWaitsForTheAccessAndItsOriginForTheExposure) {
    std::vector<TraceBytes> files = with_window();
    const std::size_t before = ops(files, 0).size();
    files[0].call(Call::win_post, 1500, 1500, {window, 1, pair(1, 0)}).call(Call::win_wait, 1500, 2500, {window});
    files[1]
        .call(Call::win_start, 1500, 1500, {window, 1, pair(0, 0)})
        .call(Call::one_sided, 1500, 1700, {window, pair(0, 0), 24, 0})
        .call(Call::win_complete, 1700, 2000, {window});
    const std::vector<std::string> target = ops(files, 0);
    const std::vector<std::string> origin = ops(files, 1);
    EXPECT_EQ(std::vector<std::string>(target.begin() + static_cast<std::ptrdiff_t>(before), target.end()),
              (std::vector<std::string>{"send 0 1", "recv 0 1"}));
    EXPECT_EQ(std::vector<std::string>(origin.begin() + static_cast<std::ptrdiff_t>(before), origin.end()),
              (std::vector<std::string>{"recv 0 0", "put 24 0", "send 0 0"}));
}

TEST(ConvertOneSidedCalls, AWindowThatWasNotMadeAndAGroupThatIsNoneAreRefused) {
    EXPECT_EQ(refusal(beside(rank_of_two(0).call(Call::win_fence, 2000, 2000, {window}))),
              "rank0: rank 0, call 1 of 1 (MPI_Win_fence) is on a window that this rank has not made");
    for (const std::vector<std::uint64_t>& words :
         {std::vector<std::uint64_t>{window, 3, pair(1, 0)}, {window, UINT64_MAX, 0}, {window, 1, pair(-1, 0)}}) {
        std::vector<TraceBytes> files = with_window();
        files[0].call(Call::win_post, 2000, 2000, words);
        EXPECT_NE(refusal(files).find("(MPI_Win_post)"), std::string::npos) << refusal(files);
    }
}

TEST(ConvertFileCalls, WhatAllRanksDoTogetherTakesWhatItTookAfterTheLastHadCome) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[0].call(Call::file_open, 1000, 1700, {file, world});
    files[1].call(Call::file_open, 1600, 1750, {file, world});
    EXPECT_EQ(ops(files, 0).back(), "calc 100");
    EXPECT_EQ(ops(files, 1).back(), "calc 150");
    EXPECT_EQ(ops(files, 0).size(), 3U) << "the two messages of a barrier before it";
}

TEST(ConvertFileCalls, WhatOneRankDoesTakesItsTimeAndThatOfTheWait) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (TraceBytes& rank : files) {
        rank.call(Call::file_open, 1000, 1000, {file, world});
    }
    files[0]
        .call(Call::file, 1000, 1200, {file, pair(1, 0), 4096})
        .call(Call::file, 1200, 1210, {file, pair(1, 0), 100, 9})
        .call(Call::wait, 1210, 1300, {9, pair(0, 0), 0});
    EXPECT_EQ(ops(files, 0).back(), "calc 300");
    const collectives::TimedCalls found = program_of(files).program()->files;
    EXPECT_EQ(found.calls, 4U);
    EXPECT_EQ(found.bytes, 4196U);
    EXPECT_EQ(found.ns, 300);
}

TEST(ConvertFileCalls, AFileThatIsNotOpenIsRefused) {
    EXPECT_EQ(refusal(beside(rank_of_two(0).call(Call::file_close, 2000, 2000, {file}))),
              "rank0: rank 0, call 1 of 1 (MPI_File_close) is on a file that this rank has not opened");
}

TEST(ConvertDynamicProcesses, TheyAreRefusedByName) {
    TraceBytes rank = rank_of_two(0);
    const std::string name = "MPI_Comm_spawn";
    std::vector<std::uint64_t> words((name.size() + 7) / 8);
    std::memcpy(words.data(), name.data(), name.size());
    EXPECT_NE(refusal(beside(rank.call(Call::unmodelled, 2000, 2000, words)))
                  .find("is MPI_Comm_spawn: processes that are started or joined"),
              std::string::npos);
}

}  // namespace
}  // namespace idlewave::trace
