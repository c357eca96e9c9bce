#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "collectives/program.hpp"
#include "converted_trace.hpp"
#include "goal/goal_writer.hpp"
#include "trace/convert.hpp"

namespace idlewave::trace {
namespace {

using testing::beside;
using testing::goal;
using testing::no_root;
using testing::not_known;
using testing::pair;
using testing::rank_of_two;
using testing::refusal;
using testing::TraceBytes;
using testing::with_communicator;
using testing::world;

constexpr std::uint64_t self = 2;
constexpr std::int32_t any_source = -1;
constexpr std::int32_t any_tag = -1;
constexpr std::int32_t proc_null = -2;

TEST(Convert, WhatLiesBetweenBlockingCallsIsComputation) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::init, 0, 1000, {})
                                .call(Call::send, 1100, 1150, {world, pair(1, 5), 8})
                                .call(Call::recv, 1180, 2000, {world, pair(1, 6), 64, pair(1, 6), 16})
                                .call(Call::finalize, 2000, 2100, {});
    EXPECT_EQ(goal(beside(file)),
              "l1: calc 100\nl2: send 8b to 1 tag 5\nl3: calc 30\nl4: recv 16b from 1 tag 6\n"
              "l2 requires l1\nl3 requires l2\nl4 requires l3\n");
}

TEST(Convert, ComputationBeforeFinalizeCounts) {
    const TraceBytes file =
        rank_of_two(0).call(Call::send, 1000, 1150, {world, pair(1, 0), 8}).call(Call::finalize, 1160, 1200, {});
    EXPECT_EQ(goal(beside(file)), "l1: send 8b to 1\nl2: calc 10\nl2 requires l1\n");
}

TEST(Convert, ARankThatLeavesInitLaterBeginsLater) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[1].began(1500).put<std::int64_t>(56, 30);
    EXPECT_EQ(goal(files, 0), "");
    EXPECT_EQ(goal(files, 1), "l1: calc 530\n");
}

TEST(Convert, NonblockingCallsGoOnUntilTheirWait) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::irecv, 1000, 1001, {world, pair(1, 3), 64, 11})
                                .call(Call::isend, 1001, 1002, {world, pair(1, 4), 8, 12})
                                .call(Call::waitall, 1052, 1100, {11, pair(1, 3), 64, 12, pair(0, 0), 0})
                                .call(Call::finalize, 1107, 1200, {});
    EXPECT_EQ(goal(beside(file)),
              "l1: recv 64b from 1 tag 3\nl2: send 8b to 1 tag 4\nl3: calc 50\nl4: calc 7\n"
              "l2 irequires l1\nl3 irequires l2\nl4 requires l1\nl4 requires l2\nl4 requires l3\n");
}

TEST(Convert, OfSeveralRequestsOnlyThoseThatCompletedAreWaitedFor) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::irecv, 1000, 1000, {world, pair(1, 1), 64, 11})
                                .call(Call::irecv, 1000, 1000, {world, pair(1, 2), 64, 12})
                                .call(Call::waitany, 1000, 1100, {12, pair(1, 2), 64})
                                .call(Call::isend, 1100, 1100, {world, pair(1, 3), 8, 13})
                                .call(Call::test, 1100, 1100, {11, pair(1, 1), 64});
    EXPECT_EQ(goal(beside(file)),
              "l1: recv 64b from 1 tag 1\nl2: recv 64b from 1 tag 2\nl3: send 8b to 1 tag 3\n"
              "l2 irequires l1\nl3 requires l2\n");
}

TEST(Convert, RequestsThatShareAHandleCompleteInTheOrderOfTheirStarts) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::isend, 1000, 1000, {world, pair(1, 1), 8, 7})
                                .call(Call::isend, 1000, 1000, {world, pair(1, 2), 8, 7})
                                .call(Call::wait, 1000, 1000, {7, pair(0, 0), 0})
                                .call(Call::finalize, 1005, 1200, {});
    EXPECT_EQ(goal(beside(file)),
              "l1: send 8b to 1 tag 1\nl2: send 8b to 1 tag 2\nl3: calc 5\n"
              "l2 irequires l1\nl3 requires l1\nl3 irequires l2\n");
}

TEST(Convert, WildcardsAreCountedAndMayStay) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::recv, 1000, 1000, {world, pair(-1, 4), 64, pair(1, 4), 8})
                                .call(Call::irecv, 1000, 1000, {world, pair(1, any_tag), 64, 11})
                                .call(Call::wait, 1000, 1000, {11, pair(1, 5), 16})
                                .call(Call::recv, 1000, 1000, {world, pair(1, 6), 64, pair(1, 6), 8})
                                .call(Call::recv, 1000, 1000, {world, pair(-2, any_tag), 64, pair(-2, any_tag), 0});
    EXPECT_EQ(goal(beside(file)),
              "l1: recv 8b from 1 tag 4\nl2: recv 64b from 1 tag 5\nl3: recv 8b from 1 tag 6\n"
              "l2 requires l1\nl3 requires l2\n");
    ConvertOptions keep;
    keep.resolve_wildcards = false;
    EXPECT_EQ(goal(beside(file), 0, keep),
              "l1: recv 8b from -1 tag 4\nl2: recv 64b from 1 tag 5\nl3: recv 8b from 1 tag 6\n"
              "l2 requires l1\nl3 requires l2\n");
    EXPECT_EQ(testing::program_of(beside(file)).wildcard_receives(), 1U)
        << "a receive from a named source takes what comes first from it";
}

TEST(Convert, SendrecvReceivesAndSendsAtOnceAndWaitsForBoth) {
    const TraceBytes file =
        rank_of_two(0)
            .call(Call::sendrecv, 1000, 1100, {world, pair(1, 4), 8, pair(1, any_tag), 64, pair(1, 9), 24})
            .call(Call::finalize, 1105, 1200, {});
    EXPECT_EQ(goal(beside(file)),
              "l1: recv 24b from 1 tag 9\nl2: send 8b to 1 tag 4\nl3: calc 5\n"
              "l2 irequires l1\nl3 requires l1\nl3 requires l2\n");
}

TEST(Convert, APersistentRequestIsAMessageAtEveryStart) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::send_init, 1000, 1000, {world, pair(1, 2), 8, 40})
                                .call(Call::recv_init, 1000, 1000, {world, pair(1, 3), 16, 41})
                                .call(Call::start, 1000, 1000, {40})
                                .call(Call::start, 1000, 1000, {41})
                                .call(Call::waitall, 1000, 1010, {40, pair(0, 0), 0, 41, pair(1, 3), 16})
                                .call(Call::start, 1010, 1010, {40})
                                .call(Call::wait, 1010, 1020, {40, pair(0, 0), 0})
                                .call(Call::request_free, 1020, 1020, {40});
    EXPECT_EQ(goal(beside(file)),
              "l1: send 8b to 1 tag 2\nl2: recv 16b from 1 tag 3\nl3: send 8b to 1 tag 2\n"
              "l2 irequires l1\nl3 requires l1\nl3 requires l2\n");
}

TEST(Convert, AWildcardIsResolvedToWhatWasReceived) {
    const TraceBytes file =
        rank_of_two(0)
            .call(Call::recv, 1000, 1000, {world, pair(any_source, any_tag), 64, pair(1, 8), 16})
            .call(Call::irecv, 1000, 1000, {world, pair(any_source, any_tag), 64, 5})
            .call(Call::irecv, 1000, 1000, {world, pair(any_source, 2), 64, 6})
            .call(Call::waitall, 1000, 1100,
                  {5, pair(1, 3), 16, 6, pair(not_known, not_known), static_cast<std::uint64_t>(-1)});
    EXPECT_EQ(goal(beside(file)),
              "l1: recv 16b from 1 tag 8\nl2: recv 64b from 1 tag 3\nl3: recv 64b from -1 tag 2\n"
              "l2 requires l1\nl3 irequires l2\n");
}

TEST(Convert, TimeInsidePollsAndInTheTracerIsNoComputation) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::polls, 1100, 1400, {10, 200})
                                .call(Call::tracer, 1400, 1450, {})
                                .call(Call::send, 1500, 1600, {world, pair(1, 0), 8})
                                .call(Call::finalize, 1620, 1700, {});
    EXPECT_EQ(goal(beside(file)), "l1: calc 250\nl2: send 8b to 1\nl3: calc 20\nl2 requires l1\nl3 requires l2\n");
}

TEST(Convert, AComputationWithPollsIsSeveralSoThatMessagesAreAnsweredBetweenThem) {
    const auto calcs = [](std::uint64_t polls, std::int64_t inside) {
        const TraceBytes file = rank_of_two(0)
                                    .call(Call::polls, 2000, 9000, {polls, static_cast<std::uint64_t>(inside)})
                                    .call(Call::send, 11'000, 11'000, {world, pair(1, 0), 8});
        const std::string text = goal(beside(file));
        return text.substr(0, text.find("send"));
    };
    EXPECT_EQ(calcs(2, 1000), "l1: calc 3000\nl2: calc 3000\nl3: calc 3000\nl4: ");
    EXPECT_EQ(calcs(3, 0), "l1: calc 2500\nl2: calc 2500\nl3: calc 2500\nl4: calc 2500\nl5: ");
    EXPECT_EQ(calcs(5, 7000), "l1: calc 1000\nl2: calc 1000\nl3: calc 1000\nl4: ") << "none below a microsecond";
    EXPECT_EQ(calcs(2, 2), "l1: calc 3334\nl2: calc 3332\nl3: calc 3332\nl4: ") << "all of the time";
}

TEST(Convert, NothingIsSentToOrReceivedFromProcNull) {
    const TraceBytes file =
        rank_of_two(0)
            .call(Call::send, 1000, 1000, {world, pair(proc_null, 0), 8})
            .call(Call::recv, 1000, 1000, {world, pair(proc_null, 0), 8, pair(proc_null, -1), 0})
            .call(Call::isend, 1000, 1000, {world, pair(proc_null, 0), 8, 5})
            .call(Call::sendrecv, 1000, 1000, {world, pair(1, 4), 8, pair(proc_null, 0), 64, pair(proc_null, -1), 0})
            .call(Call::wait, 1000, 1000, {5, pair(proc_null, -1), 0})
            .call(Call::finalize, 1000, 1000, {});
    EXPECT_EQ(goal(beside(file)), "l1: send 8b to 1 tag 4\n");
}

TEST(Convert, AMatchedProbeSaysWhatItsReceiveReceives) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::probe, 1000, 1000, {world, pair(any_source, any_tag), pair(1, 3), 16})
                                .call(Call::mprobe, 1000, 1000, {world, pair(any_source, any_tag), pair(1, 3), 16, 99})
                                .call(Call::mrecv, 1000, 1000, {99, pair(1, 3), 16})
                                .call(Call::mprobe, 1000, 1000, {world, pair(any_source, any_tag), pair(1, 4), 24, 99})
                                .call(Call::imrecv, 1000, 1000, {99, 6})
                                .call(Call::wait, 1000, 1000, {6, pair(1, 4), 24});
    EXPECT_EQ(goal(beside(file)), "l1: recv 16b from 1 tag 3\nl2: recv 24b from 1 tag 4\nl2 requires l1\n");
}

TEST(Convert, ACancelledReceiveReceivesNothing) {
    const TraceBytes file =
        rank_of_two(0)
            .call(Call::irecv, 1000, 1000, {world, pair(1, 3), 64, 11})
            .call(Call::cancel, 1000, 1000, {11})
            .call(Call::wait, 1000, 1000, {11, pair(not_known, not_known), static_cast<std::uint64_t>(-1)})
            .call(Call::finalize, 1004, 1010, {});
    EXPECT_EQ(goal(beside(file)), "l1: calc 4\n");
}

TEST(Convert, ACancelledReceiveThatIsFreedReceivesNothing) {
    const auto freed = [](std::int32_t tag, bool cancelled) {
        TraceBytes file = rank_of_two(0);
        file.call(Call::irecv, 1000, 1000, {world, pair(any_source, tag), 64, 11});
        if (cancelled) {
            file.call(Call::cancel, 1000, 1000, {11});
        }
        return file.call(Call::request_free, 1000, 1000, {11}).call(Call::finalize, 1004, 1010, {});
    };
    EXPECT_EQ(goal(beside(freed(3, true))), "l1: calc 4\n");
    EXPECT_EQ(goal(beside(freed(any_tag, true))), "l1: calc 4\n");
    EXPECT_EQ(goal(beside(freed(3, false))), "l1: recv 64b from -1 tag 3\nl2: calc 4\nl2 irequires l1\n");
    EXPECT_NE(refusal(beside(freed(any_tag, false))).find("frees a receive that names no tag"), std::string::npos)
        << "it would take any message, those of collectives, too";
}

TEST(Convert, ACancelledReceiveThatTookItsMessageStays) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::irecv, 1000, 1000, {world, pair(any_source, any_tag), 64, 11})
                                .call(Call::cancel, 1000, 1000, {11})
                                .call(Call::request_free, 1000, 1000, {11, pair(1, 3), 16})
                                .call(Call::isend, 1000, 1000, {world, pair(1, 4), 8, 12})
                                .call(Call::cancel, 1000, 1000, {12})
                                .call(Call::request_free, 1000, 1000, {12, pair(0, 0), 0})
                                .call(Call::finalize, 1004, 1010, {});
    EXPECT_EQ(goal(beside(file)),
              "l1: recv 64b from 1 tag 3\nl2: send 8b to 1 tag 4\nl3: calc 4\nl2 irequires l1\nl3 irequires l2\n")
        << "and nothing waits for what is freed";
    TraceBytes none = rank_of_two(0);
    none.call(Call::irecv, 1000, 1000, {world, pair(any_source, any_tag), 64, 11});
    none.call(Call::cancel, 1000, 1000, {11}).call(Call::request_free, 1000, 1000, {11});
    EXPECT_EQ(convert(testing::trace_of(beside(none)), {}).wildcard_receives, 0U) << "it took no message";
}

TEST(Convert, NothingWaitsForABufferedSend) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::bsend, 1000, 1010, {world, pair(1, 1), 8})
                                .call(Call::ibsend, 1010, 1010, {world, pair(1, 2), 8, 5})
                                .call(Call::wait, 1010, 1010, {5, pair(0, 0), 0})
                                .call(Call::send_init, 1010, 1010, {world, pair(1, 3), 8, 6}, 1)
                                .call(Call::start, 1010, 1010, {6})
                                .call(Call::wait, 1010, 1010, {6, pair(0, 0), 0})
                                .call(Call::finalize, 1014, 1020, {});
    EXPECT_EQ(goal(beside(file)),
              "l1: send 8b to 1 tag 1\nl2: send 8b to 1 tag 2\nl3: send 8b to 1 tag 3\nl4: calc 4\n"
              "l2 irequires l1\nl3 irequires l2\nl4 irequires l3\n");
}

TEST(Convert, SynchronousSendsStayThat) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::ssend, 1000, 1000, {world, pair(1, 1), 8})
                                .call(Call::issend, 1000, 1000, {world, pair(1, 2), 8, 5})
                                .call(Call::send_init, 1000, 1000, {world, pair(1, 3), 8, 6}, 2)
                                .call(Call::start, 1000, 1000, {6})
                                .call(Call::waitall, 1000, 1000, {5, pair(0, 0), 0, 6, pair(0, 0), 0})
                                .call(Call::send, 1000, 1000, {world, pair(1, 4), 8});
    EXPECT_EQ(goal(beside(file)),
              "l1: send 8b to 1 tag 1 synchronous\nl2: send 8b to 1 tag 2 synchronous\n"
              "l3: send 8b to 1 tag 3 synchronous\nl4: send 8b to 1 tag 4\n"
              "l2 requires l1\nl3 irequires l2\nl4 requires l2\nl4 requires l3\n");
}

TEST(Convert, WhatAnUnrecordedCallMadeIsIgnoredWhenItCompletes) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::wait, 1000, 1000, {1234, pair(1, 1), 8})
                                .call(Call::cancel, 1000, 1000, {1235})
                                .call(Call::request_free, 1000, 1000, {1236});
    EXPECT_EQ(goal(beside(file)), "");
}

TEST(Convert, RanksOfACommunicatorBecomeRanksOfTheWorld) {
    auto files = with_communicator();
    files[0].call(Call::send, 0, 0, {77, pair(0, 5), 8});
    files[2].call(Call::recv, 0, 0, {77, pair(any_source, 5), 8, pair(1, 5), 8});
    const std::string sent = goal(files, 0);
    const std::string received = goal(files, 2);
    ASSERT_TRUE(sent.starts_with("l1: send 8b to 2 tag ")) << sent;
    ASSERT_TRUE(received.starts_with("l1: recv 8b from 0 tag ")) << received;
    EXPECT_EQ(sent.substr(sent.find("tag")), received.substr(received.find("tag")));
    EXPECT_NE(sent.substr(sent.find("tag")), "tag 5\n") << "the same tag on the world is another one";
}

TEST(Convert, MessagesToOneselfStayWithOneself) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::isend, 1000, 1000, {self, pair(0, 5), 8, 1})
                                .call(Call::recv, 1000, 1000, {self, pair(0, 5), 8, pair(0, 5), 8});
    const std::string text = goal(beside(file));
    EXPECT_NE(text.find("send 8b to 0 "), std::string::npos) << text;
    EXPECT_NE(text.find("recv 8b from 0 "), std::string::npos) << text;
}

TEST(Convert, OnAnIntercommunicatorTheOtherGroupIsMeant) {
    std::vector<TraceBytes> files{TraceBytes(0, 3), TraceBytes(1, 3), TraceBytes(2, 3)};
    files[0].call(Call::comm_def, 0, 0, {88, world, pair(2, 0), pair(1, 2)}, 3);  // rank 0 sees {1, 2}
    files[1].call(Call::comm_def, 0, 0, {88, world, pair(1, 0), pair(0, 0)}, 3);  // and they see {0}
    files[2].call(Call::comm_def, 0, 0, {88, world, pair(1, 1)}, 2);
    files[0].call(Call::send, 0, 0, {88, pair(1, 5), 8});
    files[2].call(Call::recv, 0, 0, {88, pair(0, 5), 8, pair(0, 5), 8});
    EXPECT_TRUE(goal(files, 0).starts_with("l1: send 8b to 2 tag ")) << goal(files, 0);
    EXPECT_TRUE(goal(files, 2).starts_with("l1: recv 8b from 0 tag ")) << goal(files, 2);
}

TEST(Convert, RefusesATraceThatIsNotWhole) {
    const std::string or_cut = " (with --cut it is used up to its last consistent point)";
    EXPECT_EQ(
        refusal(beside(rank_of_two(0).put<std::uint32_t>(48, 0))),
        "rank0: rank 0 never reached MPI_Finalize and has recorded 0 calls: expected the trace of a run that ended" +
            or_cut);
    EXPECT_EQ(
        refusal(beside(rank_of_two(0).put<std::uint32_t>(48, 2))),
        "rank0: rank 0 called MPI_Abort and has recorded 0 calls: expected the trace of a run that ended" + or_cut);
    EXPECT_EQ(refusal(beside(rank_of_two(0).put<std::uint64_t>(104, 3))),
              "rank0: rank 0 could not store 3 records: expected a whole trace" + or_cut);
}

TEST(Convert, NamesRankAndCallOfWhatItCannotTake) {
    const auto with = [](auto call, std::initializer_list<std::uint64_t> words, std::uint16_t info = 0) {
        return refusal(beside(rank_of_two(0)
                                  .call(Call::init, 0, 1000, {})
                                  .call(static_cast<std::uint16_t>(call), 1000, 1000, words, info)));
    };
    const std::uint64_t minus_one = ~std::uint64_t{0};
    const std::string place = "rank0: rank 0, call 2 of 2 ";
    EXPECT_EQ(with(Call::send, {world, pair(2, 0), 8}), place + "(MPI_Send) has peer 2 on a communicator of 2 ranks");
    EXPECT_EQ(with(Call::send, {55, pair(0, 0), 8}),
              place + "(MPI_Send) is on a communicator that no rank has defined");
    EXPECT_EQ(with(Call::isend, {world, pair(1, 0), minus_one, 5}),
              place + "(MPI_Isend) expected a size from 0 to 2^50 bytes, found -1");
    EXPECT_EQ(with(Call::send, {world, pair(not_known, 0), 8}), place + "(MPI_Send) sends to no rank");
    EXPECT_EQ(with(Call::start, {5}), place + "(MPI_Start) starts a request that was not made before");
    EXPECT_EQ(with(Call::mrecv, {5, pair(1, 1), 8}),
              place + "(MPI_Mrecv) receives a message that no MPI_Mprobe found before");
    EXPECT_EQ(with(Call::wait, {5, 6}), place + "(MPI_Wait) expected three words for each request that completed");
    EXPECT_EQ(with(64 + 1, {world, pair(2, 0), 8, 8}), place + "(MPI_Bcast) has root 2 on a communicator of 2 ranks");
    EXPECT_EQ(with(64 + 5, {world, pair(0, 0), 8, 8, 1}, 1), place + "(MPI_Gatherv) expected a list of 2 sizes");
    EXPECT_EQ(with(64 + 3, {world, no_root, minus_one, 8}),
              place + "(MPI_Allreduce) expected sizes from 0 to 2^50 bytes");
    EXPECT_EQ(with(64 + 17, {world, no_root, 8, 8}),
              place + "(MPI_Neighbor collective) is on a communicator without a topology");
    EXPECT_EQ(with(Call::pready, {5, 1}), place + "(MPI_Pready) is for a request that was not started");
    std::uint64_t name = 0;
    std::memcpy(&name, "MPI_Foo", 7);
    EXPECT_EQ(with(Call::unmodelled, {name}),
              place + "(a call without a record of its own) communicates (MPI_Foo), and what it sends is not recorded");
}

TEST(Convert, RefusesCallsOfOneThreadThatOverlap) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::send, 1100, 1200, {world, pair(1, 0), 8})
                                .call(Call::send, 1150, 1300, {world, pair(1, 0), 8});
    EXPECT_EQ(refusal(beside(file)),
              "rank0: rank 0, call 2 of 2 (MPI_Send) overlaps the call before it: expected the calls of a thread one "
              "after another (earlier tracers did not record which thread made a call)");
}

TEST(Convert, RefusesPollsThatTookLongerThanTheyLasted) {
    const TraceBytes file = rank_of_two(0).call(Call::polls, 1100, 1200, {1, std::uint64_t{1} << 62});
    EXPECT_NE(refusal(beside(file)).find("call 1 of 1 (MPI_Test (nothing completed))"), std::string::npos)
        << refusal(beside(file));
}

}  // namespace
}  // namespace idlewave::trace
