#include "loggops/rendezvous.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "base/error.hpp"
#include "loggops/rank_parts.hpp"
#include "rank_fixture.hpp"

namespace idlewave::loggops {
namespace {

using testing::RankFixture;
using testing::SentMessages;
using testing::small_machine;

/// The parts of one thread that take part in a rendezvous.
struct Thread : RankParts<goal::Graph, NoObserver> {
    explicit Thread(RankFixture& ranks) : RankParts(ranks.tables) {}
};

/// Rank 0 sends 201 bytes with tag 5 to rank 1. The test makes each step happen.
class TwoRanks {
  public:
    using Request = idlewave::loggops::Request<goal::Graph::Cookie>;

    TwoRanks() : ranks(small_machine(), 2), sender(ranks), receiver(ranks), context(ranks.context()) {}

    void send_starts(Time now) {
        goal::ReadyOp<goal::Graph::Cookie> send;
        send.op = {.size = 201, .peer = 1, .tag = 5, .kind = goal::OpKind::send};
        sender.rendezvous.request_to_send(ranks.current(0), send, {.op_index = 8}, now, context);
    }

    /// The message that was sent last, as it arrives.
    RankFixture::Event arrival(std::uint32_t source) {
        message = context.messages.back().message;
        return {context.messages.back().time, source, context.messages.back().sequence, &message};
    }

    /// The only pending request of a thread's rank, which starts.
    static std::pair<Request, Time> start_only_request(Thread& thread, const RankFixture::Current& rank) {
        const auto next = thread.agenda.next(rank.free_times());
        const std::uint32_t number = thread.agenda.take(next.queue);
        const Request request = thread.agenda[number];
        thread.agenda.done(number);
        EXPECT_TRUE(thread.agenda.idle());
        return {request, next.at};
    }

    RankFixture ranks;
    Thread sender;
    Thread receiver;
    SentMessages context;
    Message message;
};

TEST(Rendezvous, ConsistsOfThreeMessagesWithTheirCostsAndEndsBothOps) {
    TwoRanks two;
    const auto sender = two.ranks.current(0);
    const auto receiver = two.ranks.current(1);
    std::uint32_t unexpected = 0;
    two.receiver.matching.post(receiver.state().match, {.op_index = 9}, goal::any, 5, unexpected);

    two.send_starts(0);
    EXPECT_EQ(two.context.messages.back().time, 1020) << "R11: o_s + L";
    two.receiver.rendezvous.arrive_request_to_send(receiver, two.arrival(0));
    EXPECT_EQ(two.receiver.matching.posted_receives(receiver.state().match), 0U) << "R9: it is matched on arrival";

    auto [reception, arrived] = TwoRanks::start_only_request(two.receiver, receiver);
    EXPECT_EQ(reception.kind, RequestKind::receive_request_to_send);
    const Time processed = two.receiver.reception().receive(receiver, reception, 9, arrived);
    EXPECT_EQ(processed, 1050) << "R8: o_r";
    two.receiver.rendezvous.request_clear_to_send(receiver, reception.handle, processed);

    auto [clear, clear_at] = TwoRanks::start_only_request(two.receiver, receiver);
    EXPECT_EQ(clear.kind, RequestKind::send_clear_to_send);
    two.receiver.rendezvous.send_clear_to_send(receiver, clear, clear_at, two.context);
    EXPECT_EQ(two.context.messages.back().time, 1050 + 1020) << "R12";
    EXPECT_TRUE(two.receiver.rendezvous.is_open(1));
    two.sender.rendezvous.arrive_clear_to_send(sender, two.arrival(1));

    auto [cleared, cleared_at] = TwoRanks::start_only_request(two.sender, sender);
    EXPECT_EQ(cleared.kind, RequestKind::receive_clear_to_send);
    EXPECT_EQ(two.sender.rendezvous.op_index_of_send(cleared.handle), 8U);
    two.sender.rendezvous.request_data(cleared.handle, two.sender.reception().receive(sender, cleared, 8, cleared_at));

    auto [data, data_at] = TwoRanks::start_only_request(two.sender, sender);
    EXPECT_EQ(data_at, 2070 + 30);
    const auto sent = two.sender.rendezvous.send_data(sender, data, data_at, two.context);
    EXPECT_EQ(sent.op_index, 8U);
    EXPECT_EQ(sent.at, 2100 + 20 + 200 * 1) << "R13: the send ends when its CPU is free of the data";
    EXPECT_FALSE(two.sender.rendezvous.is_open(0));
    two.receiver.rendezvous.arrive_data(two.arrival(0));

    auto [last, last_at] = TwoRanks::start_only_request(two.receiver, receiver);
    EXPECT_EQ(last.kind, RequestKind::receive_data);
    EXPECT_EQ(last_at, 2100 + 1020);
    const auto received = two.receiver.rendezvous.data_processed(
        receiver, last.handle, two.receiver.reception().receive(receiver, last, 9, last_at));
    EXPECT_EQ(received.op_index, 9U);
    EXPECT_EQ(received.at, 3120 + 30 + 200 * 2) << "R8: the last byte";
    EXPECT_FALSE(two.receiver.rendezvous.is_open(1));
    EXPECT_EQ(two.sender.occupation.messages() + two.receiver.occupation.messages(), 3U);
}

TEST(Rendezvous, ARequestToSendWithoutAReceiveIsAnUnexpectedMessage) {
    TwoRanks two;
    const auto receiver = two.ranks.current(1);
    two.send_starts(0);
    two.receiver.rendezvous.arrive_request_to_send(receiver, two.arrival(0));
    EXPECT_EQ(two.receiver.matching.unexpected_messages(receiver.state().match), 1U);
    std::uint32_t message = 0;
    EXPECT_TRUE(two.receiver.matching.post(receiver.state().match, {.op_index = 9}, 0, 5, message));
    EXPECT_EQ(two.receiver.matching[message].kind, MessageKind::request_to_send);
}

TEST(Rendezvous, ASendThatHasMovedToAnotherThreadIsFoundByItsId) {
    TwoRanks two;
    const auto sender = two.ranks.current(0);
    two.send_starts(0);
    const OpenSend<goal::Graph::Cookie> send = two.sender.rendezvous.send(two.sender.rendezvous.sends_of(0).front());
    two.sender.rendezvous.discard(0);
    EXPECT_FALSE(two.sender.rendezvous.is_open(0));
    Thread other(two.ranks);
    other.rendezvous.restore(0, send);

    two.message = {.size = 1,
                   .rendezvous_id = send.rendezvous_id,
                   .sender_handle = 77,
                   .receiver_handle = 3,
                   .kind = MessageKind::clear_to_send};
    const RankFixture::Event clear{5000, 1, 0, &two.message};
    other.rendezvous.arrive_clear_to_send(sender, clear);
    EXPECT_EQ(TwoRanks::start_only_request(other, sender).first.kind, RequestKind::receive_clear_to_send);
    EXPECT_THROW(two.sender.rendezvous.arrive_clear_to_send(sender, clear), LogicError) << "it is not there any more";
}

TEST(Rendezvous, AnOpenSendIsReportedAsUnfinished) {
    TwoRanks two;
    two.send_starts(0);
    standstill::Unfinished unfinished;
    two.sender.rendezvous.collect_unfinished_sends(unfinished);
    ASSERT_EQ(unfinished.pending().size(), 1U);
    EXPECT_EQ(unfinished.pending()[0].op_index, 8U);
    EXPECT_EQ(unfinished.pending()[0].size, 201U);
    EXPECT_EQ(unfinished.pending()[0].kind, goal::OpKind::send);
}

}  // namespace
}  // namespace idlewave::loggops
