#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "loggops/rank_parts.hpp"
#include "loggops/serialisation.hpp"
#include "rank_fixture.hpp"

namespace idlewave::loggops {
namespace {

using testing::RankFixture;
using testing::SentMessages;
using testing::small_machine;

/// The parts of one thread.
struct Thread : RankParts<goal::Graph, NoObserver> {
    explicit Thread(RankFixture& ranks) : RankParts(ranks.tables), rank_serialiser(*this) {}

    std::vector<std::byte> pack(RankFixture& ranks) {
        std::vector<std::byte> bytes;
        Serialiser serialiser(bytes);
        rank_serialiser.pack(ranks.state(0), 0, serialiser);
        return bytes;
    }
    void unpack(RankFixture& ranks, const std::vector<std::byte>& bytes) {
        Deserialiser deserialiser(bytes);
        rank_serialiser.unpack(ranks.state(0), 0, deserialiser);
        EXPECT_TRUE(deserialiser.done());
    }

    RankSerialiser<goal::Graph, NoObserver> rank_serialiser;
};

/// Gives rank 0 `count` of each record: posted receives, unexpected messages, open sends, open receives and requests.
void fill(Thread& thread, RankFixture& ranks, std::uint32_t count) {
    const auto rank = ranks.current(0);
    SentMessages context = ranks.context();
    EndedOp<goal::Graph::Cookie, Time> ended;
    thread.agenda.open(ranks.state(0).requests);
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t message = 0;
        thread.matching.post(rank.state().match, {.op_index = i}, 1, 100 + i, message);
        thread.matching.post(rank.state().match, {.op_index = 2000 + i}, 1, 600 + i, message);
        const Message unexpected{.size = 5, .tag = 200 + i};
        thread.reception().arrive(rank, {10, 1, i, &unexpected}, 10, ended);
        goal::ReadyOp<goal::Graph::Cookie> send;
        send.op = {.size = 300, .peer = 1, .tag = 300 + i, .kind = goal::OpKind::send};
        thread.rendezvous.request_to_send(rank, send, {.op_index = 1000 + i}, 20, context);
        const Message request{.size = 1, .tag = 100 + i, .sender_handle = 4, .kind = MessageKind::request_to_send};
        thread.rendezvous.arrive_request_to_send(rank, {30, 1, 500 + i, &request});
    }
    ranks.state(0).requests = thread.agenda.close();
}

TEST(RankSerialisation, ARestoredRankHasTheSameBytesHoweverManyRecordsItHas) {
    for (const std::uint32_t count : {0U, 1U, 2U, 5U, 50U}) {
        RankFixture ranks(small_machine(), 2);
        Thread one(ranks);
        Thread other(ranks);
        fill(one, ranks, count);
        const std::vector<std::byte> bytes = one.pack(ranks);
        EXPECT_EQ(one.pack(ranks), bytes) << "packing changes nothing";
        one.rank_serialiser.discard(ranks.state(0), 0);
        other.unpack(ranks, bytes);
        EXPECT_EQ(other.pack(ranks), bytes) << count << " of each record, in another thread";
        EXPECT_EQ(other.matching.unexpected_messages(ranks.state(0).match), count);
        EXPECT_EQ(other.rendezvous.sends_of(0).size(), count);
    }
}

TEST(RankSerialisation, TheEndOfAReceiveThatIsNotReportedYetIsKept) {
    RankFixture ranks(small_machine(), 2);
    Thread thread(ranks);
    ranks.state(0).match.slot.set_pending_end({.op_index = 17});
    const std::vector<std::byte> bytes = thread.pack(ranks);
    ranks.state(0).match = {};
    thread.unpack(ranks, bytes);
    EXPECT_TRUE(ranks.state(0).match.slot.end_pending());
    EXPECT_EQ(ranks.state(0).match.slot.op_index, 17U);
}

TEST(RankSerialisation, ADiscardedRankHasNothing) {
    RankFixture ranks(small_machine(), 2);
    Thread thread(ranks);
    const std::vector<std::byte> empty = thread.pack(ranks);
    const auto free_times = ranks.state(0).free_times;
    fill(thread, ranks, 20);
    thread.rank_serialiser.discard(ranks.state(0), 0);
    EXPECT_TRUE(ranks.state(0).match.empty());
    EXPECT_TRUE(ranks.state(0).requests.none());
    EXPECT_FALSE(thread.rendezvous.is_open(0));
    thread.unpack(ranks, empty);
    EXPECT_EQ(thread.pack(ranks), empty);
    EXPECT_EQ(ranks.state(0).free_times, free_times);
}

}  // namespace
}  // namespace idlewave::loggops
