#include "pdes/annihilation.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "pdes/event.hpp"
#include "pdes/payload_store.hpp"
#include "small_model.hpp"

namespace idlewave {
namespace {

using pdes::QueuedEvent;
using Payload = testing::Small::Payload;

struct Cell {
    pdes::PayloadStore<Payload> store;
    pdes::PayloadPool<Payload> payloads{store};
    pdes::Annihilation<testing::SmallWindows> annihilation{payloads};

    /// An event with a payload.
    QueuedEvent pooled(std::uint32_t offset, std::uint32_t source, std::uint32_t sequence) {
        return {.offset = offset,
                .source = source,
                .payload_slot = payloads.put(sequence, Payload{}),
                .code = QueuedEvent::pooled};
    }
};

QueuedEvent coded(std::uint32_t offset, std::uint32_t source, std::uint32_t sequence) {
    return {.offset = offset, .source = source, .sequence = sequence, .code = 1};
}
QueuedEvent anti_message(std::uint32_t offset, std::uint32_t source, std::uint32_t sequence) {
    return {.offset = offset, .source = source, .sequence = sequence, .code = QueuedEvent::anti_message};
}

TEST(Annihilation, AnAntiMessageRemovesTheEventOfItsSourceAndSequenceOnly) {
    Cell cell;
    const std::vector<QueuedEvent> events = {coded(5, 1, 0), coded(5, 1, 1), coded(5, 2, 0), anti_message(5, 1, 0)};
    const auto left = cell.annihilation.remaining(events, 100);
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left[0].sequence, 1U);
    EXPECT_EQ(left[1].source, 2U);
}

TEST(Annihilation, AnEventThatWasCancelledAndSentAnewIsLeft) {
    Cell cell;
    const std::vector<QueuedEvent> events = {coded(5, 1, 0), anti_message(5, 1, 0), coded(5, 1, 0)};
    EXPECT_EQ(cell.annihilation.remaining(events, 100).size(), 1U);
    const std::vector<QueuedEvent> again = {coded(5, 1, 0), anti_message(5, 1, 0), coded(5, 1, 0),
                                            anti_message(5, 1, 0)};
    EXPECT_TRUE(cell.annihilation.remaining(again, 100).empty());
}

TEST(Annihilation, ThePayloadOfACancelledEventIsFreed) {
    Cell cell;
    const QueuedEvent event = cell.pooled(5, 1, 9);
    const std::vector<QueuedEvent> events = {event, anti_message(5, 1, 9)};
    EXPECT_TRUE(cell.annihilation.remaining(events, 100).empty());
    EXPECT_EQ(cell.payloads.put(0, Payload{}), event.payload_slot) << "its slot is the next free one";
}

TEST(Annihilation, AnAntiMessageWithoutAnEventIsAnErrorWithItsTime) {
    Cell cell;
    const std::vector<QueuedEvent> events = {coded(5, 1, 1), anti_message(5, 1, 0)};
    try {
        static_cast<void>(cell.annihilation.remaining(events, 100));
        FAIL() << "expected an error";
    } catch (const LogicError& error) {
        EXPECT_NE(std::string(error.what()).find("from LP 1 at 105 ticks"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace idlewave
