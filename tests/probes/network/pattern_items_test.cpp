// How long the samples of patterns are, and how often they are taken again.
#include "network/pattern_items.hpp"

#include <gtest/gtest.h>

namespace idlewave::probe {
namespace {

TEST(PatternItemsTest, ASampleHas64MessagesOr256KiBAndBothBuffersWereInTheCachesBeforeIt) {
    EXPECT_EQ(repetitions_of({Pattern::ping_pong, 1, 1}), 64);
    EXPECT_EQ(repetitions_of({Pattern::ping_pong, 1, 64 << 10}), 4);
    EXPECT_EQ(repetitions_of({Pattern::ping_pong, 1, 4 << 20}), 2);
    EXPECT_EQ(repetitions_of({Pattern::stream, 64, 1}), 1);
    EXPECT_EQ(repetitions_of({Pattern::both_ways, 16, 128 << 10}), 1);
    EXPECT_EQ(untimed_repetitions({Pattern::stream, 4, 1}), 2);
    EXPECT_EQ(untimed_repetitions({Pattern::stream, 16, 1}), 1);
}

TEST(PatternItemsTest, TheMoreTimeASampleTakesTheLessOftenItIsTakenAgain) {
    EXPECT_EQ(most_tries({Pattern::ping_pong, 1, 64 << 10}), 6);
    EXPECT_EQ(most_tries({Pattern::ping_pong, 1, 128 << 10}), 3);
    EXPECT_EQ(most_tries({Pattern::late, 4, 1, 5000}), 3);
    EXPECT_EQ(most_tries({Pattern::after_computation, 1, 1, 10'000'000}), 2);
    EXPECT_EQ(most_tries({Pattern::ping_pong, 1, 4 << 20}), 1);
    EXPECT_EQ(most_tries({Pattern::peers, 2, 1}), 1);
}

}  // namespace
}  // namespace idlewave::probe
