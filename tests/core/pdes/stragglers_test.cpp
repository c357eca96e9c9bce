#include "pdes/stragglers.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "pdes/event.hpp"

namespace idlewave {
namespace {

using pdes::PendingEvent;

TEST(Stragglers, WaitForTheEndOfTheExecutionInTheirOrder) {
    pdes::Stragglers stragglers;
    EXPECT_FALSE(stragglers.defers({.lp = 1, .sequence = 0}));
    EXPECT_FALSE(stragglers.has_deferred());
    stragglers.enter_lp();
    EXPECT_TRUE(stragglers.defers({.lp = 2, .sequence = 0}));
    EXPECT_TRUE(stragglers.defers({.lp = 3, .sequence = 0}));
    stragglers.leave_lp();
    EXPECT_FALSE(stragglers.defers({.lp = 4, .sequence = 0}));
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
    EXPECT_TRUE(stragglers.defers_to_end_of_block({.lp = 5, .sequence = 0}, 7, 3));
    stragglers.leave_block();
    EXPECT_FALSE(stragglers.defers_to_end_of_block({}, 7, 3));
    const std::vector<PendingEvent> waiting = stragglers.take_of_block();
    ASSERT_EQ(waiting.size(), 1U);
    EXPECT_EQ(waiting.front().lp, 5U);
    EXPECT_TRUE(stragglers.take_of_block().empty());
}

}  // namespace
}  // namespace idlewave
