#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
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

ConvertOptions from_calls(std::uint64_t calls) {
    ConvertOptions options;
    options.from = {TracePoint::Kind::calls, calls};
    return options;
}

/// Two ranks: rank 0 sends two messages, and rank 1 receives them after a computation of 5 µs.
std::vector<TraceBytes> two_messages() {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (std::int64_t i = 1; i <= 2; ++i) {
        files[0].call(Call::send, 1000 * i, 1000 * i, {world, pair(1, 3), 8});
        files[1].call(Call::recv, 5000 * i, 5000 * i, {world, pair(0, 3), 8, pair(0, 3), 8});
    }
    return files;
}

TEST(ConsistentCut, AReceiveWhoseMessageWasSentBeforeTheBeginningIsLeftOut) {
    std::vector<TraceBytes> files = two_messages();
    files[0].call(barrier, 9000, 9000, {world, no_root, 0, 0});
    EXPECT_EQ(goal(two_messages(), 0, from_calls(1)), "l1: calc 1000\nl2: send 8b to 1 tag 3\nl2 requires l1\n");
    EXPECT_EQ(goal(two_messages(), 1, from_calls(1)), "l1: calc 9000\nl2: recv 8b from 0 tag 3\nl2 requires l1\n")
        << "rank 1 begins 4 µs later, where its first receive has ended, and computes 5 µs";
}

TEST(ConsistentCut, AMessageThatWasSentBeforeTheBeginningAndReceivedAfterItHasArrived) {
    ConvertOptions options;
    options.from = {TracePoint::Kind::time, 3000};  // after both sends, before both receives
    const std::vector<TraceBytes> files = two_messages();
    EXPECT_EQ(goal(files, 1, options).find("recv"), std::string::npos) << goal(files, 1, options);
}

TEST(ConsistentCut, AReceiveThatIsOpenAtTheBeginningIsPostedThere) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[0].call(Call::irecv, 1000, 1000, {world, pair(1, 3), 8, 7});
    files[0].call(Call::pcontrol, 2000, 2000, {1});
    files[0].call(Call::wait, 6000, 6000, {7, pair(1, 3), 8});
    files[1].call(Call::pcontrol, 2000, 2000, {1});
    files[1].call(Call::send, 3000, 3000, {world, pair(0, 3), 8});
    ConvertOptions options;
    options.from = {TracePoint::Kind::pcontrol, 1};
    EXPECT_EQ(goal(files, 0, options),
              "l1: recv 8b from 1 tag 3\n"
              "l2: calc 4000\n"
              "l2 irequires l1\n");
    EXPECT_EQ(goal(files, 1, options), "l1: calc 1000\nl2: send 8b to 0 tag 3\nl2 requires l1\n");
}

TEST(ConsistentCut, ReceivesThatArePostedAheadDoNotMoveTheBeginning) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    constexpr std::int64_t rounds = 10;
    for (const std::int32_t rank : {0, 1}) {
        TraceBytes& file = files[static_cast<std::size_t>(rank)];
        const std::uint64_t other = pair(1 - rank, 3);
        file.call(Call::irecv, 1000, 1000, {world, other, 8, 1});
        for (std::int64_t i = 1; i <= rounds; ++i) {
            const std::int64_t at = 1000 + 1000 * i;
            const auto waited = static_cast<std::uint64_t>(i % 2 == 1 ? 1 : 2);
            if (i < rounds) {
                file.call(Call::irecv, at, at, {world, other, 8, 3 - waited});
            }
            file.call(Call::send, at, at, {world, other, 8});
            file.call(Call::wait, at, at, {waited, other, 8});
        }
    }
    ConvertOptions options;
    options.from = {TracePoint::Kind::time, 5500};
    const auto program = program_of(files, options).program();
    EXPECT_EQ(program->calls - program->calls_left_out, 2U * (3 * 5 - 1)) << "five rounds are left to each rank";
}

TEST(ConsistentCut, ACancelledReceiveTakesNoMessage) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[1].call(Call::irecv, 1000, 1000, {world, pair(0, 3), 8, 5});
    files[1].call(Call::cancel, 1000, 1000, {5});
    files[1].call(Call::wait, 1000, 1000, {5, pair(-3, -3), ~std::uint64_t{0}});
    for (std::int64_t i = 2; i <= 4; ++i) {
        files[0].call(Call::send, 1000 * i, 1000 * i, {world, pair(1, 3), 8});
        files[1].call(Call::recv, 1000 * i, 1000 * i, {world, pair(0, 3), 8, pair(0, 3), 8});
    }
    ConvertOptions options;
    options.to = {TracePoint::Kind::time, 3500};  // after MPI_Init, which ends at 1000
    const auto program = program_of(files, options).program();
    EXPECT_EQ(program->calls, program->calls_left_out + 9U) << "all is before the end";
    const std::string sent = goal(files, 0, options);
    EXPECT_NE(sent.find("l3: "), std::string::npos) << sent;
}

TEST(ConsistentCut, AllRanksLeaveOutTheCollectivesThatOneLeavesOut) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (std::int64_t i = 1; i <= 3; ++i) {
        files[0].call(barrier, 1000 * i, 1000 * i, {world, no_root, 0, 0});
        files[1].call(barrier, 1000 * i, 1000 * i, {world, no_root, 0, 0});
        if (i == 1) {
            files[1].call(Call::pcontrol, 1500, 1500, {1});
        }
    }
    files[0].call(Call::pcontrol, 3500, 3500, {1});
    ConvertOptions options;
    options.from = {TracePoint::Kind::pcontrol, 1};
    files[0].call(Call::send, 4000, 4000, {world, pair(1, 3), 8});
    files[1].call(Call::recv, 4000, 4000, {world, pair(0, 3), 8, pair(0, 3), 8});
    EXPECT_EQ(goal(files, 0, options), "l1: calc 1000\nl2: send 8b to 1 tag 3\nl2 requires l1\n")
        << "it begins 0.5 µs after rank 1, which has left out its last barrier, and computes as long";
    EXPECT_EQ(goal(files, 1, options), "l1: calc 1000\nl2: recv 8b from 0 tag 3\nl2 requires l1\n");
}

TEST(ConsistentCut, WhatComesAfterTheEndIsLeftOut) {
    ConvertOptions options;
    options.to = {TracePoint::Kind::time, 9000};  // after MPI_Init, which ends at 1000
    EXPECT_EQ(goal(two_messages(), 0, options), "l1: send 8b to 1 tag 3\nl2: calc 1000\nl2 requires l1\n")
        << "it has computed before the second send, which nobody receives";
    EXPECT_EQ(goal(two_messages(), 1, options), "l1: calc 4000\nl2: recv 8b from 0 tag 3\nl2 requires l1\n");
}

TEST(ConsistentCut, AComputationDuringWhichTheStretchBeginsIsUsedFromThereOn) {
    ConvertOptions options;
    options.from = {TracePoint::Kind::time, 2500};  // after MPI_Init, which ends at 1000
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (TraceBytes& file : files) {
        file.call(Call::pcontrol, 1000, 1000, {1});
        file.call(barrier, 9000, 9000, {world, no_root, 0, 0});
    }
    const std::string used = goal(files, 0, options);
    EXPECT_NE(used.find("l1: calc 5500\n"), std::string::npos) << used;
}

TEST(ConsistentCut, PollsAtTheBeginningHaveTheirTimeOnce) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (const std::int32_t rank : {0, 1}) {
        TraceBytes& file = files[static_cast<std::size_t>(rank)];
        file.call(Call::pcontrol, 1000, 1000, {1});
        file.call(Call::polls, 2000, 900'000, {40, 890'000});
        file.call(barrier, 900'500, 900'500, {world, no_root, 0, 0});
    }
    const std::string used = goal(files, 0, from_calls(2));
    EXPECT_NE(used.find("l1: calc 500\n"), std::string::npos) << used;
}

TEST(ConsistentCut, APointToWhichARankDoesNotComeIsRefused) {
    const auto refused = [](const ConvertOptions& options) {
        try {
            program_of(two_messages(), options);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("converted");
    };
    EXPECT_NE(refused(from_calls(9)).find("rank 0 has recorded 2 calls: expected 9 at least"), std::string::npos);
    ConvertOptions options;
    options.from = {TracePoint::Kind::pcontrol, 1};
    EXPECT_NE(refused(options).find("rank 0 calls MPI_Pcontrol 0 times: expected 1 at least"), std::string::npos);
    EXPECT_NE(refused(from_calls(2)).find("no consistent point"), std::string::npos);
    ConvertOptions nothing;
    nothing.to = {TracePoint::Kind::calls, 0};
    EXPECT_NE(refused(nothing).find("no consistent point"), std::string::npos);
}

}  // namespace
}  // namespace idlewave::trace
