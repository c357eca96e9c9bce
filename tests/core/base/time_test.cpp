#include "base/time.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace idlewave {
namespace {

TEST(Time, NanosecondsAreAThousandPicosecondsUpToTheRangeOfATime) {
    constexpr std::uint64_t most = 9'223'372'036'854'775;  // 2^63 ps are 9,223,372,036,854,775.808 ns
    Time time = 7;
    EXPECT_TRUE(from_nanoseconds(0, time));
    EXPECT_EQ(time, 0);
    EXPECT_TRUE(from_nanoseconds(1, time));
    EXPECT_EQ(time, 1000);
    EXPECT_TRUE(from_nanoseconds(most, time));
    EXPECT_EQ(time, 9'223'372'036'854'775'000);
}

TEST(Time, DurationsBeyondTheRangeAreRefusedAndLeaveTheTimeAsItIs) {
    Time time = 7;
    for (const std::uint64_t ns :
         {std::uint64_t{9'223'372'036'854'776}, std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max()}) {
        EXPECT_FALSE(from_nanoseconds(ns, time)) << ns;
    }
    EXPECT_EQ(time, 7);
}

TEST(Time, ASumBeyondTheRangeThrows) {
    EXPECT_EQ(later(never - 1, 1), never);
    EXPECT_THROW(later(never, 1), TimeOverflow);
}

}  // namespace
}  // namespace idlewave
