#include "pdes/conservative_queue.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "pdes/event.hpp"
#include "pdes/gvt.hpp"

namespace idlewave {
namespace {

using pdes::PendingEvent;

TEST(ConservativeQueue, ReleasesCellsInTheOrderOfTimeAndEventsInThatOfTheirArrival) {
    pdes::ConservativeQueue queue;
    EXPECT_EQ(queue.first(), pdes::Gvt::nothing);
    queue.add({.lp = 1, .sequence = 0}, 9);
    queue.add({.lp = 2, .sequence = 1}, 4);
    queue.add({.lp = 1, .sequence = 2}, 4);
    queue.add({.lp = 3, .sequence = 3}, 10);
    EXPECT_EQ(queue.first(), 4);
    std::vector<std::pair<std::int64_t, std::uint32_t>> released;
    queue.release_to(9, [&](const std::vector<PendingEvent>& events, std::int64_t cell) {
        for (const PendingEvent& event : events) {
            released.emplace_back(cell, event.sequence);
        }
    });
    EXPECT_EQ(released, (std::vector<std::pair<std::int64_t, std::uint32_t>>{{4, 1}, {4, 2}, {9, 0}}));
    EXPECT_EQ(queue.first(), 10);
}

TEST(ConservativeQueue, KnowsAnLpUntilItsLastEventIsReleased) {
    pdes::ConservativeQueue queue;
    const auto ignore = [](const std::vector<PendingEvent>& /*events*/, std::int64_t /*cell*/) {};
    queue.add({.lp = 1, .sequence = 0}, 4);
    queue.add({.lp = 1, .sequence = 0}, 6);
    queue.release_to(4, ignore);
    EXPECT_TRUE(queue.has(1));
    EXPECT_FALSE(queue.has(2));
    queue.release_to(6, ignore);
    EXPECT_FALSE(queue.has(1));
}

}  // namespace
}  // namespace idlewave
