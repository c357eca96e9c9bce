#include "machine/machine.hpp"

#include <gtest/gtest.h>

namespace idlewave::machine {
namespace {

TEST(PerByte, RoundsTheWholeProductOnceHalvesUp) {
    EXPECT_EQ(per_byte(0.5, 2), 1);
    EXPECT_EQ(per_byte(0.5, 3), 1);
    EXPECT_EQ(per_byte(0.5, 4), 2);
    EXPECT_EQ(per_byte(0.3, 11), 3);
    EXPECT_EQ(per_byte(0.49, 2), 0);
}

TEST(PerByte, IsNothingForTheFirstByteAndForNoByte) {
    EXPECT_EQ(per_byte(1000, 0), 0);
    EXPECT_EQ(per_byte(1000, 1), 0);
    EXPECT_EQ(per_byte(1000, 2), 1000);
}

TEST(PerByte, SaysSoWhenTheProductLeavesTheRangeOfTimes) {
    EXPECT_THROW(per_byte(1e6, 1'125'899'906'842'624), TimeOverflow);
}

TEST(Level, ASegmentHoldsFromItsFirstSizeOn) {
    Level level;
    level.segments[0].parameters.L = 1;
    level.segments.push_back({10, {.L = 2}});
    level.segments.push_back({20, {.L = 3}});
    EXPECT_EQ(level.of(0).L, 1);
    EXPECT_EQ(level.of(9).L, 1);
    EXPECT_EQ(level.of(10).L, 2);
    EXPECT_EQ(level.of(19).L, 2);
    EXPECT_EQ(level.of(20).L, 3);
    EXPECT_EQ(level.of(1'125'899'906'842'624).L, 3);
}

TEST(Machine, AMessageOfAnyLevelMayBeTheOneThatReachesAnotherRankFirst) {
    Machine machine;
    machine.network.segments[0].parameters = {.L = 100, .o_s = 10};
    EXPECT_EQ(machine.lookahead(), 110);
    machine.node = Level{};
    machine.node->segments[0].parameters = {.L = 50, .o_s = 10};
    EXPECT_EQ(machine.lookahead(), 60);
    machine.shared_buffer = Level{};
    machine.shared_buffer->segments[0].parameters = {.L = 20};
    EXPECT_EQ(machine.lookahead(), 20);
}

TEST(Machine, ItsReceivesTakeTheCpuIfThoseOfSomeSizeDo) {
    Machine machine;
    machine.node = Level{};
    EXPECT_FALSE(machine.posts_take_cpu());
    machine.node->segments.push_back({100, {.o_p = 1}});
    EXPECT_TRUE(machine.posts_take_cpu());
}

TEST(Machine, SendsOnALevelEndLateIfThoseOfSomeSizeDo) {
    Machine machine;
    machine.shared_buffer = Level{};
    EXPECT_FALSE(machine.sends_end_late(LevelKind::shared_buffer));
    machine.shared_buffer->segments.push_back({100, {.c = 1}});
    EXPECT_TRUE(machine.sends_end_late(LevelKind::shared_buffer));
    EXPECT_FALSE(machine.sends_end_late(LevelKind::network));
    EXPECT_FALSE(machine.sends_end_late(LevelKind::node));
}

TEST(Machine, ItsLookaheadIsTheLeastOverheadAndLatencyOfAnyTransmission) {
    Machine machine;
    machine.network.segments[0].parameters = {.L = 50, .o_s = 5};
    EXPECT_EQ(machine.lookahead(), 55);
    machine.network.segments.push_back({100, {.L = 20, .o_s = 7}});
    EXPECT_EQ(machine.lookahead(), 27);
    machine.node = Level{};
    machine.node->segments[0].parameters = {.L = 3, .o_s = 1};
    EXPECT_EQ(machine.lookahead(), 4);
}

}  // namespace
}  // namespace idlewave::machine
