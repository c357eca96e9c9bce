#include "base/elementary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace idlewave {
namespace {

TEST(Elementary, LogarithmsAreThoseOfTheCLibraryToAFewUnits) {
    for (double x = 0x1p-54; x < 1e9; x *= 1.0371) {
        EXPECT_NEAR(natural_logarithm(x), std::log(x), 4e-16 * std::fabs(std::log(x))) << x;
    }
    EXPECT_EQ(natural_logarithm(1), 0);
    EXPECT_DOUBLE_EQ(natural_logarithm(1 - 0x1p-53), -0x1p-53);
}

TEST(Elementary, ExponentialsAreThoseOfTheCLibraryToAFewUnits) {
    for (double x = -700; x < 700; x += 0.37) {
        EXPECT_NEAR(exponential(x) / std::exp(x), 1, 1e-15) << x;
    }
    EXPECT_EQ(exponential(0), 1);
    EXPECT_EQ(exponential(-1e9), 0);
    EXPECT_TRUE(std::isinf(exponential(1e9)));
}

TEST(Elementary, NormalQuantilesAreWhatTheErrorFunctionSays) {
    for (const double p :
         {1e-16, 1e-12, 1e-6, 0.001, 0.07, 0.074, 0.075, 0.076, 0.3, 0.5, 0.8, 0.93, 0.999, 1 - 1e-9}) {
        const double below = 0.5 * std::erfc(-normal_quantile(p) / std::numbers::sqrt2);
        EXPECT_NEAR(below / p, 1, 1e-13) << p;
    }
    EXPECT_EQ(normal_quantile(0.5), 0);
}

}  // namespace
}  // namespace idlewave
