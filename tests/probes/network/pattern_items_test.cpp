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

TEST(PatternItemsTest, AReceiverThatComputesForLongDoesSoRarely) {
    EXPECT_EQ(repetitions_of({Pattern::late, 1, 1, 10'000}), 64);
    EXPECT_EQ(repetitions_of({Pattern::late, 1, 1, 2'000'000}), 10);
    EXPECT_EQ(repetitions_of({Pattern::late, 1, 1, 100'000'000}), 2);
}

TEST(PatternItemsTest, ALateReceiverComputesForTwoRoundTrips) {
    const Lateness found = lateness_after({{1, 700}, {1024, 900}, {1 << 20, 700 + 0.25 * ((1 << 20) - 1)}});
    EXPECT_DOUBLE_EQ(found.ns, 1400);
    EXPECT_NEAR(found.ns_per_byte, 0.5, 1e-9);
}

TEST(PatternItemsTest, SizesNearEachOtherSayNothingOfTheTimePerByte) {
    const double time_slice = 4e6;
    const Lateness found = lateness_after({{1, 700}, {8, 700 + time_slice}});
    EXPECT_EQ(found.ns_per_byte, Lateness().ns_per_byte);
    EXPECT_LT(lateness_after({{1, 700 + time_slice}, {4096, 700}}).of(4, 4096), 10'000'000);
    EXPECT_LT(lateness_after({{1, 1e12}, {4096, 1e15}}).of(4, 4096), 200'000'000);
    EXPECT_EQ(lateness_after({}).of(1, 1000), Lateness().of(1, 1000));
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
