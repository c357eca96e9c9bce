#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "converted_trace.hpp"
#include "trace/convert.hpp"

/// What MPI 3 and 4 have added: neighbourhood and persistent collectives, partitioned messages, MPI_Isendrecv.
namespace idlewave::trace {
namespace {

using testing::beside;
using testing::goal;
using testing::no_root;
using testing::pair;
using testing::rank_of_two;
using testing::refusal;
using testing::trace_of;
using testing::TraceBytes;
using testing::world;

constexpr auto persistent_allreduce = static_cast<Call>(192 + 3);
constexpr auto neighbor = static_cast<Call>(64 + 17);
constexpr auto ineighbor = static_cast<Call>(128 + 17);

/// The messages of a rank, in order: "recv 8 from 1 tag 2".
std::vector<std::string> messages(const std::vector<TraceBytes>& files, std::uint32_t rank) {
    std::vector<std::string> found;
    for (const goal::Op& op : testing::program_of(files).rank_schedule(rank).ops) {
        if (op.kind != goal::OpKind::calc) {
            found.push_back((op.kind == goal::OpKind::send ? "send " : "recv ") + std::to_string(op.size) + " " +
                            std::to_string(op.peer));
        }
    }
    return found;
}

TEST(ConvertLaterCalls, AnExchangeWithoutBlockingIsWaitedForAsOne) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::isendrecv, 1000, 1100, {world, pair(1, 3), 8, pair(1, 4), 16, 5})
                                .call(Call::wait, 1300, 1400, {5, pair(1, 4), 16})
                                .call(Call::send, 1400, 1500, {world, pair(1, 9), 1});
    EXPECT_EQ(goal(beside(file)),
              "l1: recv 16b from 1 tag 4\n"
              "l2: send 8b to 1 tag 3\n"
              "l3: calc 200\n"
              "l4: send 1b to 1 tag 9\n"
              "l2 irequires l1\n"
              "l3 irequires l2\n"
              "l4 requires l1\n"
              "l4 requires l2\n"
              "l4 requires l3\n");
}

TEST(ConvertLaterCalls, APersistentCollectiveBeginsAtEachStart) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    std::vector<TraceBytes> blocking{rank_of_two(0), rank_of_two(1)};
    for (const std::size_t rank : {0, 1}) {
        files[rank].call(persistent_allreduce, 1000, 1000, {world, no_root, 5, 8, 8});
        for (int i = 0; i < 3; ++i) {
            files[rank].call(Call::start, 1000, 1000, {5}).call(Call::wait, 1000, 1000, {5, pair(0, 0), 0});
            blocking[rank].call(static_cast<Call>(64 + 3), 1000, 1000, {world, no_root, 8, 8});
        }
    }
    EXPECT_EQ(messages(files, 0), messages(blocking, 0));
    EXPECT_EQ(messages(files, 0).size(), 6U) << "three times a send and a receive";
}

/// The tags of a rank's sends or receives, by size.
std::multimap<std::uint64_t, std::uint32_t> tags(const collectives::ProgramSource& program, std::uint32_t rank,
                                                 goal::OpKind kind) {
    std::multimap<std::uint64_t, std::uint32_t> found;
    for (const goal::Op& op : program.rank_schedule(rank).ops) {
        if (op.kind == kind) {
            found.emplace(op.size, op.tag);
        }
    }
    return found;
}

TEST(ConvertLaterCalls, PersistentCollectivesMatchInTheOrderInWhichTheyAreMade) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (const std::uint64_t rank : {0, 1}) {  // the ranks start them in different orders
        files[rank]
            .call(persistent_allreduce, 1000, 1000, {world, no_root, 5, 8, 8})
            .call(persistent_allreduce, 1000, 1000, {world, no_root, 6, 24, 24})
            .call(Call::start, 1000, 1000, {5 + rank})
            .call(Call::start, 1000, 1000, {6 - rank})
            .call(static_cast<Call>(64 + 3), 1000, 1000, {world, no_root, 40, 40})
            .call(Call::waitall, 1000, 1000, {5, pair(0, 0), 0, 6, pair(0, 0), 0});
    }
    const collectives::ProgramSource program = testing::program_of(files);
    EXPECT_EQ(tags(program, 0, goal::OpKind::send), tags(program, 1, goal::OpKind::recv));
    EXPECT_EQ(tags(program, 1, goal::OpKind::send), tags(program, 0, goal::OpKind::recv));
    EXPECT_EQ(tags(program, 0, goal::OpKind::send).size(), 3U);
}

TEST(ConvertLaterCalls, PartitionedMessagesMatchInTheOrderInWhichTheyAreMade) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (const std::int32_t rank : {0, 1}) {
        const Call make = rank == 0 ? Call::psend_init : Call::precv_init;
        files[static_cast<std::size_t>(rank)]
            .call(make, 1000, 1000, {world, pair(1 - rank, 3), 400, 5, 1})
            .call(make, 1000, 1000, {world, pair(1 - rank, 3), 700, 6, 1})
            .call(Call::start, 1000, 1000, {rank == 0 ? 6U : 5U})
            .call(Call::start, 1000, 1000, {rank == 0 ? 5U : 6U});
    }
    files[0].call(Call::pready, 1000, 1000, {6, 1}).call(Call::pready, 1000, 1000, {5, 1});
    const collectives::ProgramSource program = testing::program_of(files);
    EXPECT_EQ(tags(program, 0, goal::OpKind::send), tags(program, 1, goal::OpKind::recv));
    EXPECT_EQ(tags(program, 0, goal::OpKind::send).size(), 2U);
}

TEST(ConvertLaterCalls, WhoSawAllPartitionsArriveHasWaitedForThem) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::precv_init, 1000, 1000, {world, pair(1, 3), 400, 5, 2})
                                .call(Call::start, 1000, 1000, {5})
                                .call(Call::parrived, 1000, 1000, {5, 0})
                                .call(Call::parrived, 1000, 1000, {5, 0})
                                .call(Call::send, 1000, 1000, {world, pair(1, 1), 1})
                                .call(Call::parrived, 1000, 1000, {5, 1})
                                .call(Call::send, 1000, 1000, {world, pair(1, 2), 2})
                                .call(Call::wait, 1000, 1000, {5, pair(1, 3), 400});
    EXPECT_EQ(goal(beside(file)),
              "l1: recv 400b from 1 tag 805306368\n"
              "l2: send 1b to 1 tag 1\n"
              "l3: send 2b to 1 tag 2\n"
              "l2 irequires l1\n"
              "l3 requires l1\n"
              "l3 requires l2\n");
}

TEST(ConvertLaterCalls, AReceiveThatNamesNoTagNeedsOneOfTheRecord) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::isendrecv, 1000, 1100, {world, pair(1, 3), 8, pair(1, -1), 16, 5})
                                .call(Call::wait, 1300, 1400, {5, pair(-3, -3), ~std::uint64_t{0}});
    EXPECT_EQ(refusal(beside(file)),
              "rank0: rank 0, call 2 of 2 (MPI_Wait) completes a receive that names no tag, and the tag of its message "
              "is not known");
}

TEST(ConvertLaterCalls, AHandleThatWasFreedMayBeThatOfAnotherPersistentRequest) {
    const TraceBytes file = rank_of_two(0)
                                .call(persistent_allreduce, 1000, 1000, {world, no_root, 5, 8, 8})
                                .call(Call::request_free, 1000, 1000, {5})
                                .call(Call::send_init, 1000, 1000, {world, pair(1, 3), 400, 5})
                                .call(Call::start, 1000, 1000, {5});
    EXPECT_EQ(goal(beside(file)), "l1: send 400b to 1 tag 3\n");
}

TEST(ConvertLaterCalls, APartitionedMessageIsSentWhenItsLastPartitionIsReady) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::psend_init, 1000, 1000, {world, pair(1, 3), 400, 5, 4})
                                .call(Call::start, 1000, 1000, {5})
                                .call(Call::pready, 1100, 1100, {5, 3})
                                .call(Call::pready, 1300, 1300, {5, 1})
                                .call(Call::wait, 1800, 1800, {5, pair(0, 0), 0});
    const std::string text = goal(beside(file));
    ASSERT_NE(text.find("calc 300\n"), std::string::npos) << "the time until then; " << text;
    ASSERT_NE(text.find("calc 500\n"), std::string::npos) << text;
    EXPECT_LT(text.find("calc 300\n"), text.find("send 400b to 1")) << text;
    EXPECT_LT(text.find("send 400b to 1"), text.find("calc 500\n")) << text;
}

TEST(ConvertLaterCalls, PartitionedMessagesMatchNoOthers) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[0]
        .call(Call::send_init, 1000, 1000, {world, pair(1, 3), 400, 6})
        .call(Call::psend_init, 1000, 1000, {world, pair(1, 3), 400, 5, 1})
        .call(Call::start, 1000, 1000, {6})
        .call(Call::start, 1000, 1000, {5})
        .call(Call::pready, 1000, 1000, {5, 1});
    files[1].call(Call::precv_init, 1000, 1000, {world, pair(0, 3), 400, 5, 1}).call(Call::start, 1000, 1000, {5});
    const collectives::ProgramSource program = testing::program_of(files);
    const std::vector<goal::Op> sent = program.rank_schedule(0).ops;
    const std::vector<goal::Op> received = program.rank_schedule(1).ops;
    ASSERT_EQ(sent.size(), 2U);
    ASSERT_EQ(received.size(), 1U);
    EXPECT_NE(sent[0].tag, sent[1].tag);
    EXPECT_EQ(sent[1].tag, received[0].tag);
}

TEST(ConvertLaterCalls, MorePartitionsThanThereAreAreRefused) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::psend_init, 1000, 1000, {world, pair(1, 3), 400, 5, 4})
                                .call(Call::start, 1000, 1000, {5})
                                .call(Call::pready, 1100, 1100, {5, 5});
    EXPECT_EQ(refusal(beside(file)),
              "rank0: rank 0, call 3 of 3 (MPI_Pready) makes 5 partitions ready, of which 4 are left");
}

/// Four ranks on a grid of 2 x 2 that is periodic along the second dimension; communicator 77.
std::vector<TraceBytes> on_a_grid() {
    std::vector<TraceBytes> files;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        files.emplace_back(rank, 4);
        const bool first = rank == 0;
        files.back().call(Call::comm_def, 0, 0,
                          first ? std::vector<std::uint64_t>{77, world, pair(4, 0), pair(0, 1), pair(2, 3)}
                                : std::vector<std::uint64_t>{77, world, pair(4, static_cast<std::int32_t>(rank))},
                          first ? 1 : 0);
        files.back().call(Call::cart, 0, 0, {77, 2, pair(2, 0), pair(2, 1)});
    }
    return files;
}

TEST(ConvertLaterCalls, NeighboursOnAGridExchangePartsAlongEachDimension) {
    std::vector<TraceBytes> files = on_a_grid();
    for (TraceBytes& file : files) {
        file.call(neighbor, 0, 0, {77, no_root, 40, 40});
    }
    EXPECT_EQ(messages(files, 0),
              (std::vector<std::string>{"recv 10 2", "recv 10 1", "recv 10 1", "send 10 2", "send 10 1", "send 10 1"}))
        << "below in the first dimension is no rank";
    EXPECT_EQ(messages(files, 3),
              (std::vector<std::string>{"recv 10 1", "recv 10 2", "recv 10 2", "send 10 1", "send 10 2", "send 10 2"}));
}

TEST(ConvertLaterCalls, APartThatGoesUpIsReceivedFromBelow) {
    std::vector<TraceBytes> files = on_a_grid();
    for (TraceBytes& file : files) {  // 1 and 2 bytes along the first dimension, 3 down and 4 up the second
        file.call(neighbor, 0, 0, {77, no_root, 10, 10, 1, 2, 3, 4, 2, 1, 4, 3}, 3);
    }
    const collectives::ProgramSource program = testing::program_of(files);
    std::size_t matches = 0;
    for (const goal::Op& send : program.rank_schedule(0).ops) {
        if (send.kind != goal::OpKind::send || send.peer != 1) {
            continue;
        }
        for (const goal::Op& receive : program.rank_schedule(1).ops) {
            if (receive.kind == goal::OpKind::recv && receive.peer == 0 && receive.tag == send.tag) {
                EXPECT_EQ(receive.size, send.size);
                ++matches;
            }
        }
    }
    EXPECT_EQ(matches, 2U);
}

TEST(ConvertLaterCalls, NeighboursOfAGraphReceiveFromItsSources) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[0]
        .call(Call::comm_def, 1000, 1000, {77, world, pair(2, 0), pair(0, 1)}, 1)
        .call(Call::neighbors, 1000, 1000, {77, pair(0, 1), pair(1, 0)})
        .call(ineighbor, 1000, 1000, {77, no_root, 5, 8, 0, 8}, 2)
        .call(Call::wait, 1000, 1000, {5, pair(0, 0), 0});
    files[1]
        .call(Call::comm_def, 1000, 1000, {77, world, pair(2, 1)})
        .call(Call::neighbors, 1000, 1000, {77, pair(1, 0), pair(0, 0)})
        .call(neighbor, 1000, 1000, {77, no_root, 0, 8});
    EXPECT_EQ(messages(files, 0), std::vector<std::string>{"send 8 1"});
    EXPECT_EQ(messages(files, 1), std::vector<std::string>{"recv 8 0"});
}

TEST(ConvertLaterCalls, AGridWithMoreRanksThanTheProgramIsRefused) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[0]
        .call(Call::comm_def, 1000, 1000, {77, world, pair(2, 0), pair(0, 1)}, 1)
        .call(Call::cart, 1000, 1000, {77, 3, pair(1 << 30, 0), pair(1 << 30, 0), pair(1 << 30, 0)});
    EXPECT_EQ(refusal(files), "rank0: expected a grid of 1 to 2 ranks, found an extent of 1073741824");
}

/// Ranks 0 and 2 are one group, 1 and 3 the other.
std::vector<TraceBytes> two_groups() {
    std::vector<TraceBytes> files;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        files.emplace_back(rank, 4);
        const bool first = rank < 2;
        std::vector<std::uint64_t> words{77, world, pair(2, static_cast<std::int32_t>(rank / 2))};
        if (first) {
            words.push_back(rank == 0 ? pair(1, 3) : pair(0, 2));  // the other group
        }
        files.back().call(Call::comm_def, 0, 0, words, first ? 3 : 2);
    }
    return files;
}

TEST(ConvertLaterCalls, GroupsThatOverlapAreRefused) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[0].call(Call::comm_def, 1000, 1000, {77, world, pair(1, 0), pair(1, 0)}, 3);
    files[1].call(Call::comm_def, 1000, 1000, {77, world, pair(2, 0), pair(0, 1)}, 3);
    EXPECT_EQ(refusal(files), "rank1: the groups of an intercommunicator overlap, or are more than two");
}

TEST(ConvertLaterCalls, ABroadcastBetweenGroupsGoesFromItsRootToTheOtherGroup) {
    std::vector<TraceBytes> files = two_groups();
    const auto bcast = static_cast<Call>(64 + 1);
    files[0].call(bcast, 0, 0, {77, pair(proc_null, 0), 0, 0});
    files[2].call(bcast, 0, 0, {77, pair(mpi_root, 0), 8, 8});
    files[1].call(bcast, 0, 0, {77, pair(1, 0), 8, 8});
    files[3].call(bcast, 0, 0, {77, pair(1, 0), 8, 8});
    EXPECT_EQ(messages(files, 0), std::vector<std::string>{});
    std::size_t received = 0;
    for (const std::uint32_t rank : {1U, 3U}) {
        for (const std::string& message : messages(files, rank)) {
            received += message.starts_with("recv 8") ? 1 : 0;
        }
    }
    EXPECT_EQ(received, 2U);
    EXPECT_TRUE(messages(files, 2)[0].starts_with("send 8"));
}

TEST(ConvertLaterCalls, UnequalPartsBetweenGroupsAreRefused) {
    std::vector<TraceBytes> files = two_groups();
    files[0].call(static_cast<Call>(64 + 13), 0, 0, {77, no_root, ~std::uint64_t{0}, 8});
    EXPECT_EQ(refusal(files),
              "rank0: rank 0, call 2 of 2 (MPI_Reduce_scatter) is on an intercommunicator, where a rank knows only its "
              "own part");
}

TEST(ConvertLaterCalls, GroupsOfDifferentSizesReduceTheSameVector) {
    std::vector<TraceBytes> files;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {  // rank 0 is one group, the others are the other one
        files.emplace_back(rank, 4);
        std::vector<std::uint64_t> words{77, world,
                                         pair(rank == 0 ? 3 : 1, rank == 0 ? 0 : static_cast<int>(rank) - 1)};
        if (rank == 0) {
            words.insert(words.end(), {pair(1, 2), pair(3, 0)});
        } else if (rank == 1) {
            words.push_back(pair(0, 0));
        }
        files.back().call(Call::comm_def, 0, 0, words, rank < 2 ? 3 : 2);
        const std::uint64_t part = rank == 0 ? 36'000 : 12'000;
        files.back().call(static_cast<Call>(64 + 14), 0, 0, {77, no_root, ~std::uint64_t{0}, part});
    }
    const collectives::ProgramSource program = testing::program_of(files);
    for (std::uint32_t from = 0; from < 4; ++from) {
        for (std::uint32_t to = 0; to < 4; ++to) {
            std::vector<std::uint64_t> sent;
            std::vector<std::uint64_t> received;
            for (const goal::Op& op : program.rank_schedule(from).ops) {
                if (op.kind == goal::OpKind::send && op.peer == to) {
                    sent.push_back(op.size);
                }
            }
            for (const goal::Op& op : program.rank_schedule(to).ops) {
                if (op.kind == goal::OpKind::recv && op.peer == from) {
                    received.push_back(op.size);
                }
            }
            EXPECT_EQ(sent, received) << from << " to " << to;
        }
    }
}

TEST(ConvertLaterCalls, AnAllToAllBetweenGroupsStaysBetweenThem) {
    std::vector<TraceBytes> files = two_groups();
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        files[rank].call(static_cast<Call>(64 + 10), 0, 0, {77, no_root, 8, 8});
    }
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        std::size_t bytes = 0;
        for (const goal::Op& op : testing::program_of(files).rank_schedule(rank).ops) {
            const bool own_group = op.peer % 2 == rank % 2;
            EXPECT_TRUE(op.kind == goal::OpKind::calc || !own_group);
            bytes += op.kind == goal::OpKind::send ? op.size : 0;
        }
        EXPECT_EQ(bytes, 16U);
    }
}

}  // namespace
}  // namespace idlewave::trace
