#include "loggops/reception.hpp"

#include <gtest/gtest.h>

#include "rank_fixture.hpp"

namespace idlewave::loggops {
namespace {

using testing::RankFixture;
using testing::small_machine;

struct Parts {
    Parts()
        : ranks(small_machine(), 2),
          occupation(ranks.tables),
          transmission(ranks.tables, occupation),
          reception(ranks.tables, occupation, agenda, matching, transmission),
          rank(ranks.current(1)) {}

    RankFixture ranks;
    Agenda<goal::Graph::Cookie> agenda;
    Matching<goal::Graph::Cookie, Time> matching;
    Occupation<goal::Graph, NoObserver> occupation;
    Transmission<goal::Graph, NoObserver> transmission;
    Reception<goal::Graph, NoObserver> reception;
    RankFixture::Current rank;
    Message message{.size = 11, .tag = 5};
    RankFixture::Event event{1000, 0, 0, &message};
    EndedOp<goal::Graph::Cookie, Time> ended;
};

TEST(Reception, AnExpectedMessageIsReceivedAtOnceAndEndsItsReceive) {
    Parts parts;
    std::uint32_t message = 0;
    parts.matching.post(parts.rank.state().match, {.op_index = 9}, 0, 5, message);
    EXPECT_TRUE(parts.reception.arrive(parts.rank, parts.event, never, parts.ended));
    EXPECT_EQ(parts.ended.op_index, 9U);
    EXPECT_EQ(parts.ended.at, 1000 + 30 + 20);
    EXPECT_TRUE(parts.agenda.idle());
}

TEST(Reception, AReceptionThatCannotBeginBeforeTheNextEventIsRequested) {
    Parts parts;
    std::uint32_t message = 0;
    parts.matching.post(parts.rank.state().match, {.op_index = 9}, 0, 5, message);
    parts.rank.free_times()[0] = 4000;
    EXPECT_FALSE(parts.reception.arrive(parts.rank, parts.event, 3000, parts.ended));
    ASSERT_TRUE(parts.agenda.one());
    const auto next = parts.agenda.next(parts.rank.free_times());
    EXPECT_EQ(next.at, 4000);
    EXPECT_EQ(parts.agenda.head(next.queue).kind, RequestKind::receive_expected);
    EXPECT_EQ(parts.agenda.head(next.queue).ready.op_index, 9U);
    EXPECT_EQ(parts.reception.receive_expected(parts.rank, parts.agenda.head(next.queue), next.at), 4000 + 30 + 20);
}

TEST(Reception, AnUnexpectedMessageIsReceivedOnArrivalAndItsReceiveEndsWhenItIsPosted) {
    Parts parts;
    EXPECT_FALSE(parts.reception.arrive(parts.rank, parts.event, never, parts.ended));
    std::uint32_t handle = 0;
    ASSERT_TRUE(parts.matching.post(parts.rank.state().match, {.op_index = 9}, goal::any, goal::any, handle));
    EXPECT_TRUE(parts.matching[handle].processed);
    EXPECT_EQ(parts.matching[handle].processed_at, 1050);
    EXPECT_TRUE(parts.matching.is_received(handle));
    parts.ended = parts.reception.end_receive(parts.rank, handle, {.op_index = 9}, 2000);
    EXPECT_EQ(parts.ended.op_index, 9U);
    EXPECT_EQ(parts.ended.at, 2000) << "R10: the later of both times";
}

}  // namespace
}  // namespace idlewave::loggops
