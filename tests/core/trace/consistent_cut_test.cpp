#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "converted_trace.hpp"
#include "trace/convert.hpp"

/// Traces that ended early, used up to the last point at which no message and no collective lacks a side.
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

ConvertOptions cut() {
    ConvertOptions options;
    options.cut = true;
    return options;
}

/// The rank never reached MPI_Finalize.
TraceBytes killed(std::uint32_t rank) {
    return std::move(rank_of_two(rank).put<std::uint32_t>(48, 0));
}

/// Two killed ranks after `rounds` exchanges, in which rank 0 sends and rank 1 answers.
std::vector<TraceBytes> after(int rounds) {
    std::vector<TraceBytes> files{killed(0), killed(1)};
    for (int i = 0; i < rounds; ++i) {
        files[0].call(Call::send, 1000, 1000, {world, pair(1, 3), 8});
        files[0].call(Call::recv, 1000, 1000, {world, pair(1, 4), 8, pair(1, 4), 8});
        files[1].call(Call::recv, 1000, 1000, {world, pair(0, 3), 8, pair(0, 3), 8});
        files[1].call(Call::send, 1000, 1000, {world, pair(0, 4), 8});
    }
    return files;
}

std::uint64_t used(const std::vector<TraceBytes>& files) {
    const auto program = program_of(files, cut()).program();
    return program->calls - program->calls_left_out;
}

TEST(ConsistentCut, ATraceThatEndedEarlyIsRefusedUnlessItMayBeCut) {
    EXPECT_NE(refusal(after(2)).find("with --cut it is used"), std::string::npos) << refusal(after(2));
    EXPECT_EQ(used(after(2)), 8U);
}

TEST(ConsistentCut, AWholeTraceIsNotCut) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[0].call(Call::send, 2000, 2000, {world, pair(1, 3), 8});
    files[1].call(Call::recv, 2000, 2000, {world, pair(0, 3), 8, pair(0, 3), 8});
    EXPECT_EQ(program_of(files, cut()).program()->calls, 0U) << "there is no cut";
    EXPECT_EQ(goal(files, 1, cut()), goal(files, 1));
}

TEST(ConsistentCut, AMessageThatNobodyHasReceivedIsLeftOut) {
    std::vector<TraceBytes> files = after(1);
    files[0].call(Call::send, 3000, 3000, {world, pair(1, 3), 8}).call(Call::send, 4000, 4000, {world, pair(1, 9), 1});
    EXPECT_EQ(goal(files, 0, cut()),
              "l1: send 8b to 1 tag 3\n"
              "l2: recv 8b from 1 tag 4\n"
              "l3: calc 3000\n"
              "l2 requires l1\n"
              "l3 requires l2\n");
}

TEST(ConsistentCut, WhatWasReceivedFromACallThatNeverEndedIsLeftOutWithAllThatFollows) {
    std::vector<TraceBytes> files = after(1);
    // Rank 0 died in a call that had sent the message already.
    files[1]
        .call(Call::recv, 2000, 2000, {world, pair(0, 3), 8, pair(0, 3), 8})
        .call(Call::send, 2000, 2000, {world, pair(0, 4), 8});
    EXPECT_EQ(used(files), 4U);
    EXPECT_EQ(goal(files, 1, cut()), goal(after(1), 1, cut()));
}

TEST(ConsistentCut, OneRankThatIsCutCutsThoseThatHeardOfIt) {
    std::vector<TraceBytes> files{killed(0), killed(1)};
    files[0].call(barrier, 2000, 2000, {world, no_root, 0, 0});
    files[1]
        .call(barrier, 2000, 2000, {world, no_root, 0, 0})
        .call(barrier, 3000, 3000, {world, no_root, 0, 0})
        .call(Call::send, 4000, 4000, {world, pair(0, 4), 8});
    files[0].call(Call::recv, 5000, 5000, {world, pair(1, 4), 8, pair(1, 4), 8});
    EXPECT_EQ(used(files), 2U) << "rank 0 has not begun the second barrier, after which its message was sent";
}

TEST(ConsistentCut, AReceiveForWhichNoCallWaitsIsNotSimulated) {
    std::vector<TraceBytes> files = after(1);
    files[0].call(Call::irecv, 2000, 2000, {world, pair(1, 8), 8, 5});
    files[1].call(Call::isend, 2000, 2000, {world, pair(0, 8), 8, 6});
    EXPECT_EQ(used(files), 6U);
    for (const std::uint32_t rank : {0U, 1U}) {
        EXPECT_EQ(goal(files, rank, cut()).find("tag 8"), std::string::npos) << goal(files, rank, cut());
    }
}

TEST(ConsistentCut, ARequestThatWasWaitedForStays) {
    std::vector<TraceBytes> files = after(0);
    files[0]
        .call(Call::irecv, 1000, 1000, {world, pair(any_source, 8), 8, 5})
        .call(Call::wait, 2000, 2000, {5, pair(1, 8), 8});
    files[1].call(Call::isend, 1000, 1000, {world, pair(0, 8), 8, 6});
    EXPECT_EQ(used(files), 3U);
    EXPECT_NE(goal(files, 0, cut()).find("recv 8b from 1 tag 8"), std::string::npos) << goal(files, 0, cut());
}

TEST(ConsistentCut, ReceivesMatchInTheOrderInWhichTheyArePosted) {
    std::vector<TraceBytes> files{killed(0), killed(1)};
    // Rank 1 has sent two messages, of which the record of the second is missing; rank 0 has waited for that one only.
    files[0]
        .call(Call::irecv, 1000, 1000, {world, pair(1, 8), 8, 5})
        .call(Call::irecv, 1000, 1000, {world, pair(1, 8), 8, 6})
        .call(Call::wait, 2000, 2000, {6, pair(1, 8), 8});
    files[1].call(Call::isend, 1000, 1000, {world, pair(0, 8), 8, 6});
    EXPECT_EQ(used(files), 3U) << "without the wait for a message that was not sent";
    EXPECT_EQ(goal(files, 0, cut()).find("recv"), std::string::npos) << goal(files, 0, cut());
    EXPECT_EQ(goal(files, 1, cut()).find("send"), std::string::npos) << goal(files, 1, cut());
}

TEST(ConsistentCut, ACommunicatorWhoseMembersWereNotListedEndsWhatCanBeUsed) {
    std::vector<TraceBytes> files = after(1);
    files[1]
        .call(Call::comm_def, 2000, 2000, {77, world, pair(2, 1)})  // rank 0 died before it listed the members
        .call(barrier, 2000, 2000, {77, no_root, 0, 0})
        .call(Call::send, 3000, 3000, {world, pair(0, 4), 8});
    EXPECT_EQ(used(files), 5U);
}

TEST(ConsistentCut, ALongChainOfMessagesThatUndoEachOtherIsFoundAtOnce) {
    constexpr int rounds = 20'000;
    std::vector<TraceBytes> files = after(rounds);
    files[0].bytes().resize(256);  // nothing of rank 0 is left
    EXPECT_EQ(used(files), 0U);
}

TEST(ConsistentCut, ATraceThatCouldNotStoreAllIsUsedUpToThere) {
    std::vector<TraceBytes> files{rank_of_two(0), std::move(rank_of_two(1).put<std::uint64_t>(104, 7))};
    files[0].call(Call::send, 2000, 2000, {world, pair(1, 3), 8});
    EXPECT_NE(refusal(files).find("could not store 7 records"), std::string::npos);
    EXPECT_EQ(used(files), 1U);
}

}  // namespace
}  // namespace idlewave::trace
