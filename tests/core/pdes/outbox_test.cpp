#include "pdes/outbox.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "pdes/event.hpp"
#include "pdes/gvt.hpp"
#include "pdes/inbox.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/payload_store.hpp"
#include "small_model.hpp"

namespace idlewave {
namespace {

using pdes::PendingEvent;
using pdes::QueuedEvent;
using testing::Small;
using OutboxTransport = pdes::PartitionTransport<Small::Payload>;

/// Two partitions: the first one sends, the second one receives.
struct Partitions {
    OutboxTransport transport{2};
    OutboxTransport::Endpoint sender{transport, 0};
    OutboxTransport::Endpoint receiver{transport, 1};
    pdes::Gvt senders_gvt;
    pdes::Gvt receivers_gvt;
    pdes::Outbox<Small::Payload> outbox{2, sender, senders_gvt};
    Small model;
    testing::SmallWindows windows{model};
    testing::SmallWindows::Worker worker{windows};
    pdes::PayloadStore<Small::Payload> store;
    pdes::PayloadPool<Small::Payload> payloads{store};

    std::vector<PendingEvent> receive() {
        std::vector<PendingEvent> events;
        pdes::receive_batches<testing::SmallWindows>(receiver, receivers_gvt, worker, payloads,
                                                     [&](const PendingEvent& event) { events.push_back(event); });
        return events;
    }
};

TEST(Outbox, EventsLeaveTogetherInTheirOrderWithTheirPayloads) {
    Partitions partitions;
    partitions.outbox.send(1, {.time = 5, .lp = 3, .source = 7, .sequence = 0, .code = 2}, 0);
    partitions.outbox.send(1, {.time = 9, .lp = 4, .source = 7, .sequence = 1, .code = QueuedEvent::pooled}, 0, {11});
    partitions.outbox.send(1, {.time = 8, .lp = 4, .source = 7, .sequence = 2, .code = QueuedEvent::pooled}, 0, {12});
    EXPECT_TRUE(partitions.receive().empty());
    partitions.outbox.flush();
    const std::vector<PendingEvent> events = partitions.receive();
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[0].code, 2);
    EXPECT_EQ(events[0].sequence, 0U);
    for (std::uint32_t i : {1U, 2U}) {
        EXPECT_EQ(events[i].code, QueuedEvent::pooled);
        EXPECT_EQ(partitions.payloads[events[i].payload_slot].sequence, i) << "the event's own";
        EXPECT_EQ(partitions.payloads[events[i].payload_slot].payload.word, 10 + i);
    }
    EXPECT_EQ(partitions.outbox.events(), 3U);
    EXPECT_EQ(partitions.outbox.batches(), 1U);
}

TEST(Outbox, AFullBatchLeavesByItself) {
    Partitions partitions;
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        partitions.outbox.send(1, {.time = i, .sequence = i}, 0);
    }
    const std::size_t early = partitions.receive().size();
    EXPECT_GT(early, 0U);
    EXPECT_LT(early, 10'000U);
    partitions.outbox.flush();
    EXPECT_EQ(partitions.receive().size(), 10'000 - early);
    partitions.outbox.flush();
    EXPECT_TRUE(partitions.receive().empty()) << "what has left does not leave again";
}

TEST(Outbox, WhatWasNotSentIsFreedWithIt) {
    Partitions partitions;
    partitions.outbox.send(1, {}, 0);
    partitions.outbox.send(0, {}, 0);
    EXPECT_EQ(partitions.outbox.batches(), 0U);
}

}  // namespace
}  // namespace idlewave
