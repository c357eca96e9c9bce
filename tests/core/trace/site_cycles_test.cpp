#include "trace/site_cycles.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

/// Whether the computations of a site repeat themselves in a cycle.
namespace idlewave::trace {
namespace {

/// Computations of these times again and again, `apart` calls from each other.
std::vector<SiteComputation> repeated(const std::vector<std::int64_t>& times, int rounds, std::uint64_t apart = 3) {
    std::vector<SiteComputation> found;
    for (int round = 0; round < rounds; ++round) {
        for (const std::int64_t ns : times) {
            const auto number = static_cast<std::int64_t>(found.size());
            found.push_back({apart * static_cast<std::uint64_t>(number), ns + number * 7919 % 100});
        }
    }
    return found;
}

std::uint32_t length_with(const std::vector<SiteComputation>& computations) {
    return cycles_of(std::span(&computations, 1)).front().length;
}

TEST(SiteCycles, ACycleIsFoundWithItsShortestLength) {
    EXPECT_EQ(length_with(repeated({2'700'000, 400'000, 100'000}, 20)), 3U);
    EXPECT_EQ(length_with(repeated({2'700'000, 100'000, 2'700'000, 100'000}, 20)), 2U);
    EXPECT_EQ(length_with(repeated({50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 90'000}, 20)), 12U);
    EXPECT_EQ(length_with(repeated({50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 90'000}, 20)), 1U)
        << "cycles of more than twelve are not looked for";
}

TEST(SiteCycles, EqualAndRandomTimesHaveNone) {
    EXPECT_EQ(length_with(repeated({5000}, 200)), 1U);
    EXPECT_EQ(length_with({}), 1U);
    std::vector<SiteComputation> random;
    std::uint64_t state = 1;
    for (std::uint64_t i = 0; i < 400; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        random.push_back({i, static_cast<std::int64_t>(state >> 44)});
    }
    EXPECT_EQ(length_with(random), 1U);
}

TEST(SiteCycles, FewRoundsMayBeChance) {
    EXPECT_EQ(length_with(repeated({900, 500'000}, 7)), 1U);
    EXPECT_EQ(length_with(repeated({900, 500'000}, 8)), 2U);
}

TEST(SiteCycles, TheyBeginAnewWhereTheSiteWasLeft) {
    std::vector<SiteComputation> left;
    for (std::uint64_t stretch = 0; stretch < 10; ++stretch) {
        for (std::uint64_t i = 0; i < 15; ++i) {  // not a multiple of the cycle
            left.push_back({1000 * stretch + 3 * i, std::vector<std::int64_t>{2000, 50, 400, 9000}[i % 4]});
        }
    }
    const SiteCycle found = cycles_of(std::span(&left, 1)).front();
    ASSERT_EQ(found.length, 4U);
    for (std::size_t i = 0; i < left.size(); ++i) {
        EXPECT_EQ(found.position(i), i % 15 % 4);
    }
}

TEST(SiteCycles, TheCyclesOfAllRanksHaveOneLength) {
    const std::vector<SiteCycle> found =
        cycles_of(std::vector{repeated({100, 90'000}, 30), repeated({90'000, 100}, 30), repeated({100}, 3)});
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].length, 2U);
    EXPECT_EQ(found[2].length, 2U);
    EXPECT_EQ(found[0].position(3), 1U);
}

}  // namespace
}  // namespace idlewave::trace
