#include <gtest/gtest.h>

#include <set>

#include "base/random.hpp"

namespace idlewave {
namespace {

// Known answers of the authors' own tests (Random123, tests/kat_vectors: "philox4x64 10"); numpy.random.Philox agrees.
TEST(Philox, GivesTheKnownAnswerForZeros) {
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
              (Philox{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
}

TEST(Philox, GivesTheKnownAnswerForOnes) {
    constexpr std::uint64_t ones = ~std::uint64_t{0};
    EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
              (Philox{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}));
}

TEST(Philox, GivesTheKnownAnswerForTheDigitsOfPi) {
    EXPECT_EQ(philox({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
                     {0x452821e638d01377, 0xbe5466cf34e90c6c}),
              (Philox{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}));
}

TEST(Draw, IsTheFirstPhiloxWordOfEntitySeedAndStreamScaledToTheRange) {
    // numpy.random.Philox with counter {7, 0, 0, 0} and key {42, 1} begins with 0x5cdff129fcc84704.
    EXPECT_EQ(draw(42, Stream::noise_phase, 7, std::uint64_t{1} << 32), 0x5cdff129U);
    EXPECT_EQ(draw(42, Stream::noise_phase, 7, 1), 0U);
}

TEST(Draw, StaysBelowItsRangeAndReachesAllOfASmallOne) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t entity = 0; entity < 200; ++entity) {
        seen.insert(draw(1, Stream::noise_phase, entity, 10));
    }
    EXPECT_EQ(seen.size(), 10U);
    EXPECT_EQ(*seen.rbegin(), 9U);
}

}  // namespace
}  // namespace idlewave
