#include "pdes/delivery.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "pdes/calendar_queue.hpp"
#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "pdes/payload_store.hpp"
#include "small_model.hpp"

namespace idlewave {
namespace {

using pdes::QueuedEvent;
using testing::Small;
using testing::SmallWindows;
using DeliveredLp = pdes::Lp<SmallWindows::State>;

struct Deliveries {
    Small model;
    SmallWindows windows{model};
    pdes::PayloadStore<Small::Payload> store;
    pdes::PayloadPool<Small::Payload> payloads{store};
    pdes::Delivery<SmallWindows> delivery{windows, payloads};
    pdes::Grid grid{Small::lookahead(), Small::lps(), 1};

    QueuedEvent queue(std::uint32_t offset, std::uint32_t source, std::uint32_t sequence, std::uint32_t word) {
        return {.offset = offset,
                .source = source,
                .payload_slot = payloads.put(sequence, Small::Payload{word}),
                .code = QueuedEvent::pooled};
    }
};

TEST(Delivery, APooledEventHasItsTimeSequenceAndPayload) {
    Deliveries deliveries;
    const auto event = deliveries.delivery.deliver(deliveries.queue(3, 9, 42, 7), 100);
    EXPECT_EQ(event.time, 103);
    EXPECT_EQ(event.source, 9U);
    EXPECT_EQ(event.sequence, 42U);
    EXPECT_EQ(event.payload->word, 7U);
}

TEST(Delivery, TheSlotOfAnEventThatIsReleasedIsUsedAgain) {
    Deliveries deliveries;
    const QueuedEvent first = deliveries.queue(3, 9, 42, 7);
    deliveries.delivery.release({.offset = 3, .source = 9, .sequence = first.payload_slot, .code = 0});
    EXPECT_NE(deliveries.queue(3, 9, 43, 8).payload_slot, first.payload_slot) << "that event had no slot";
    deliveries.delivery.release(first);
    EXPECT_EQ(deliveries.queue(3, 9, 44, 9).payload_slot, first.payload_slot);
}

TEST(Delivery, EventsComeInTheOrderOfTimeSourceAndSequence) {
    Deliveries deliveries;
    const std::vector<QueuedEvent> queued = {deliveries.queue(5, 1, 0, 3), deliveries.queue(2, 8, 4, 1),
                                             deliveries.queue(5, 0, 9, 2), deliveries.queue(2, 8, 3, 0)};
    DeliveredLp lp{};
    std::vector<std::uint32_t> words;
    for (const auto& event : deliveries.delivery.deliver_all(lp, queued, 0, 10, deliveries.grid)) {
        words.push_back(event.payload->word);
    }
    EXPECT_EQ(words, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Delivery, ATimerIsNoEventAndHasGoneOffUnlessItsCellIsLater) {
    for (const auto& [cell, left] : {std::pair(0U, DeliveredLp::no_timer), std::pair(50U, 50U)}) {
        Deliveries deliveries;
        DeliveredLp lp{};
        lp.timer = cell;
        const std::vector<QueuedEvent> queued = {{.source = QueuedEvent::timer, .sequence = 0},
                                                 deliveries.queue(2, 8, 3, 0)};
        EXPECT_EQ(deliveries.delivery.deliver_all(lp, queued, 0, 10, deliveries.grid).size(), 1U);
        EXPECT_EQ(lp.timer, left);
    }
}

}  // namespace
}  // namespace idlewave
