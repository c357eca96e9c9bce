#include "loggops/transmission.hpp"

#include <gtest/gtest.h>

#include "rank_fixture.hpp"

namespace idlewave::loggops {
namespace {

using testing::RankFixture;
using testing::SentMessages;
using testing::small_machine;

struct TransmissionParts {
    explicit TransmissionParts(const machine::Machine& machine)
        : ranks(machine, 4), occupation(ranks.tables), transmission(ranks.tables, occupation) {}

    RankFixture ranks;
    Occupation<goal::Graph, NoObserver> occupation;
    Transmission<goal::Graph, NoObserver> transmission;
};

goal::ReadyOp<goal::Graph::Cookie> send_of(std::uint64_t size, std::uint32_t peer) {
    goal::ReadyOp<goal::Graph::Cookie> send;
    send.op = {.size = size, .peer = peer, .tag = 5, .kind = goal::OpKind::send};
    return send;
}

TEST(Transmission, AnEagerMessageTravelsWithItsTagAndSizeAndArrivesAfterOverheadAndLatency) {
    TransmissionParts parts(small_machine());
    SentMessages context = parts.ranks.context();
    const Time end = parts.transmission.send_eagerly(parts.ranks.current(0), send_of(11, 3), {}, 100, context);
    EXPECT_EQ(end, 130);
    ASSERT_EQ(context.messages.size(), 1U);
    EXPECT_EQ(context.messages[0].destination, 3U);
    EXPECT_EQ(context.messages[0].time, 1120);
    EXPECT_EQ(context.messages[0].message.kind, MessageKind::data);
    EXPECT_EQ(context.messages[0].message.tag, 5U);
    EXPECT_EQ(context.messages[0].message.size, 11U);
}

TEST(Transmission, AControlMessageCostsAsMuchAsOneByteAndDataAsMuchAsTheirSize) {
    TransmissionParts parts(small_machine());
    SentMessages context = parts.ranks.context();
    const auto rank = parts.ranks.current(0);
    const Message request{.size = 1, .tag = 5, .kind = MessageKind::request_to_send};
    EXPECT_EQ(parts.transmission.send_protocol(rank, {}, 3, request, 0, context), 20);
    EXPECT_EQ(rank.free_times()[parts.ranks.tables.layout.tx(0)], 50);
    const Message data{.size = 201, .rendezvous_id = 0, .kind = MessageKind::rendezvous_data};
    EXPECT_EQ(parts.transmission.send_protocol(rank, {}, 3, data, 1000, context), 1000 + 20 + 200);
    EXPECT_EQ(rank.free_times()[parts.ranks.tables.layout.tx(0)], 1000 + 50 + 400);
}

TEST(Transmission, DataCostAsMuchAsTheirOwnSizeAndNetworkWhateverCameBefore) {
    machine::Machine machine = small_machine();
    machine.node = machine.network;
    machine.node->segments[0].parameters.O_s = 3;
    machine.node->segments[0].parameters.O_r = 3;
    machine.node_ranks = 2;
    TransmissionParts parts(machine);
    SentMessages context = parts.ranks.context();
    const auto rank = parts.ranks.current(0);
    Time begin = 0;
    for (const std::uint64_t size : {201U, 201U, 401U, 1U, 201U}) {
        for (const std::uint32_t peer : {3U, 1U, 1U, 3U}) {  // rank 1 is in the same node
            const Message data{.size = size, .rendezvous_id = 0, .kind = MessageKind::rendezvous_data};
            const Time bytes = static_cast<Time>(size - 1) * (peer == 1 ? 3 : 1);
            EXPECT_EQ(parts.transmission.send_protocol(rank, {}, peer, data, begin, context), begin + 20 + bytes)
                << size << " bytes to " << peer;
            begin += 1'000'000;
        }
    }
}

TEST(Transmission, RanksOfOneNodeHaveTheirOwnNetworkAndThreshold) {
    machine::Machine machine = small_machine();
    machine.node = machine.network;
    machine.node->segments[0].parameters.L = 7;
    machine.node->S = 10;
    machine.node_ranks = 2;
    TransmissionParts parts(machine);
    SentMessages context = parts.ranks.context();
    const auto rank = parts.ranks.current(0);
    parts.transmission.send_eagerly(rank, send_of(1, 1), {}, 0, context);
    parts.transmission.send_eagerly(rank, send_of(1, 2), {}, 0, context);
    EXPECT_EQ(context.messages[0].time, 27);
    EXPECT_EQ(context.messages[1].time, 1020);
    EXPECT_FALSE(parts.transmission.is_eager(rank, send_of(11, 1).op));
    EXPECT_TRUE(parts.transmission.is_eager(rank, send_of(100, 2).op));
    EXPECT_FALSE(parts.transmission.is_eager(rank, send_of(101, 2).op));
}

/// A machine whose nodes of two ranks share a buffer.
machine::Machine machine_with_a_shared_buffer() {
    machine::Machine machine = small_machine();
    machine.node = machine.network;
    machine.node->S = 10;
    machine.node_ranks = 2;
    machine.shared_buffer = machine::Level{};
    machine.shared_buffer->segments[0].parameters = {.L = 5, .o_s = 2, .o_r = 3, .O_r = 4};
    return machine;
}

goal::ReadyOp<goal::Graph::Cookie> send_through_the_buffer(std::uint64_t size, std::uint32_t peer) {
    auto send = send_of(size, peer);
    send.op.tag |= goal::shared_buffer_tag;
    return send;
}

TEST(Transmission, AMessageThroughASharedBufferHasItsCostsWithinTheNodeAloneAndIsEagerThere) {
    TransmissionParts parts(machine_with_a_shared_buffer());
    SentMessages context = parts.ranks.context();
    const auto rank = parts.ranks.current(0);
    const auto near = send_through_the_buffer(101, 1);
    EXPECT_EQ(parts.transmission.send_eagerly(rank, near, {}, 0, context), 2);
    EXPECT_EQ(context.messages[0].time, 2 + 5);
    EXPECT_TRUE(parts.transmission.is_eager(rank, near.op));
    parts.transmission.send_eagerly(rank, send_through_the_buffer(1, 2), {}, 0, context);
    EXPECT_EQ(context.messages[1].time, 1020);
    EXPECT_FALSE(parts.transmission.is_eager(rank, send_through_the_buffer(101, 2).op));
    const std::uint32_t tag = near.op.tag;
    for (const std::uint16_t message_class : {context.messages[0].message.message_class, Message::no_class}) {
        EXPECT_EQ(parts.transmission.receive(rank, {}, MessageKind::data, 1, 101, tag, message_class, 1000),
                  1000 + 3 + 100 * 4);
    }
}

TEST(Transmission, AllRanksShareTheBufferOfAMachineWithoutANetworkWithinNodes) {
    machine::Machine machine = machine_with_a_shared_buffer();
    machine.node.reset();
    TransmissionParts parts(machine);
    SentMessages context = parts.ranks.context();
    parts.transmission.send_eagerly(parts.ranks.current(0), send_through_the_buffer(1, 3), {}, 0, context);
    EXPECT_EQ(context.messages[0].time, 2 + 5);
}

TEST(Transmission, ATagThatMatchesAnyIsNotThatOfASharedBuffer) {
    TransmissionParts parts(machine_with_a_shared_buffer());
    SentMessages context = parts.ranks.context();
    auto send = send_of(1, 1);
    send.op.tag = goal::any;
    parts.transmission.send_eagerly(parts.ranks.current(0), send, {}, 0, context);
    EXPECT_EQ(context.messages[0].time, 1020);
}

TEST(Transmission, MessagesBeyondTheLastClassHaveTheirOwnCostsAndTravelWhole) {
    TransmissionParts parts(machine_with_a_shared_buffer());
    std::uint64_t size = 1000;
    while (parts.ranks.tables.classes.number(size, 5) != Message::no_class) {
        ++size;
    }
    SentMessages context = parts.ranks.context();
    const auto rank = parts.ranks.current(0);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(parts.transmission.send_eagerly(rank, send_of(11, 3), {}, 0, context), 30);
        EXPECT_EQ(parts.transmission.send_eagerly(rank, send_through_the_buffer(101, 1), {}, 0, context), 2);
    }
    ASSERT_EQ(context.messages.size(), 4U);
    for (std::size_t i = 0; i < 4; i += 2) {
        const auto& far = context.messages[i];
        EXPECT_EQ(far.time, 1020);
        EXPECT_EQ(far.message.message_class, Message::no_class);
        EXPECT_EQ(far.message.size, 11U);
        EXPECT_EQ(far.message.tag, 5U);
        EXPECT_EQ(context.messages[i + 1].time, 2 + 5);
        EXPECT_EQ(context.messages[i + 1].message.tag, 5U | goal::shared_buffer_tag);
    }
    Message moved{.size = 11, .tag = 5};
    EXPECT_EQ(parts.transmission.classify(moved), Message::no_class);
    moved.size = 1000;
    EXPECT_NE(parts.transmission.classify(moved), Message::no_class);
}

/// A rank that is rolled back sends the same again.
TEST(MessageClasses, AMessageKeepsItsClassOrHasNoneForEver) {
    machine::Machine machine = small_machine();
    MessageClasses classes(machine);
    std::vector<std::uint16_t> first;
    for (int time = 0; time < 2; ++time) {
        for (std::uint32_t i = 0; i < 2 * MessageClasses::most; ++i) {
            const std::uint16_t number = classes.number(i % 100, i / 100);
            if (time == 0) {
                first.push_back(number);
            }
            ASSERT_EQ(number, first[i]);
            ASSERT_EQ(number, i < MessageClasses::most ? i : Message::no_class);
            if (number != Message::no_class) {
                ASSERT_EQ(classes[number].message.size, i % 100);
                ASSERT_EQ(classes[number].message.tag, i / 100);
            }
        }
    }
}

TEST(MessageClasses, AMessageWhoseCostsOverflowHasNoClassHoweverOftenItComes) {
    machine::Machine machine = small_machine();
    machine.network.segments[0].parameters.G = 1e17;
    MessageClasses classes(machine);
    for (int i = 0; i < 2; ++i) {
        EXPECT_THROW(classes.number(1'000'000, 0), TimeOverflow);
    }
}

}  // namespace
}  // namespace idlewave::loggops
