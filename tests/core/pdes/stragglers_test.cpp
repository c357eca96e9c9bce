#include "pdes/stragglers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "pdes/conservative_queue.hpp"
#include "pdes/event.hpp"
#include "pdes/gvt.hpp"

namespace idlewave {
namespace {

using pdes::PendingEvent;

TEST(Stragglers, WaitForTheEndOfTheExecutionInTheirOrder) {
    pdes::Stragglers stragglers;
    EXPECT_FALSE(stragglers.defers({.lp = 1}));
    EXPECT_FALSE(stragglers.has_deferred());
    stragglers.enter_lp();
    EXPECT_TRUE(stragglers.defers({.lp = 2}));
    EXPECT_TRUE(stragglers.defers({.lp = 3}));
    stragglers.leave_lp();
    EXPECT_FALSE(stragglers.defers({.lp = 4}));
    const std::vector<PendingEvent> deferred = stragglers.take_deferred();
    ASSERT_EQ(deferred.size(), 2U);
    EXPECT_EQ(deferred[0].lp, 2U);
    EXPECT_EQ(deferred[1].lp, 3U);
    EXPECT_FALSE(stragglers.has_deferred());
}

TEST(Stragglers, OfThePresentCellAndBlockWaitForItsEnd) {
    pdes::Stragglers stragglers;
    EXPECT_FALSE(stragglers.defers_to_end_of_block({}, 7, 3));
    stragglers.enter_block(7, 3);
    EXPECT_FALSE(stragglers.defers_to_end_of_block({}, 6, 3));
    EXPECT_FALSE(stragglers.defers_to_end_of_block({}, 7, 2));
    EXPECT_TRUE(stragglers.defers_to_end_of_block({.lp = 5}, 7, 3));
    stragglers.leave_block();
    EXPECT_FALSE(stragglers.defers_to_end_of_block({}, 7, 3));
    const std::vector<PendingEvent> waiting = stragglers.take_of_block();
    ASSERT_EQ(waiting.size(), 1U);
    EXPECT_EQ(waiting.front().lp, 5U);
    EXPECT_TRUE(stragglers.take_of_block().empty());
}

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
    queue.add({.lp = 1}, 4);
    queue.add({.lp = 1}, 6);
    queue.release_to(4, ignore);
    EXPECT_TRUE(queue.has(1));
    EXPECT_FALSE(queue.has(2));
    queue.release_to(6, ignore);
    EXPECT_FALSE(queue.has(1));
}

}  // namespace
}  // namespace idlewave
