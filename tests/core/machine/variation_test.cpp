#include "machine/variation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "machine/machine.hpp"

namespace idlewave::machine {
namespace {

/// The arrivals of messages that depart at each picosecond up to `until`: the rule, step by step.
std::vector<Time> arrivals_of_each_picosecond(const Variation& variation, Time L, Time until) {
    std::vector<Time> arrivals;
    Time latest_arrival = 0;
    Time before = scaled(L, variation.at(0).L);
    for (Time t = 0; t < until; ++t) {
        const Time now = scaled(L, variation.at(t).L);
        latest_arrival = std::max({latest_arrival, t + now, t == 0 ? 0 : t + before});
        before = now;
        arrivals.push_back(latest_arrival);
    }
    return arrivals;
}

std::vector<Variation> examples() {
    return {Variation({{0, 4, 1}, {100, 1, 1}}, 0), Variation({{10, 2, 1}, {40, 0.5, 1}, {41, 3, 1}, {45, 1, 1}}, 70),
            Variation({{0, 1, 1}, {1, 6, 1}, {2, 0.1, 1}}, 300), Variation({{5, 0.3, 1}}, 6)};
}

TEST(Variation, ItsFactorsHoldFromTheirRowOnAndInEachPeriod) {
    const Variation variation({{10, 2, 3}, {30, 4, 5}}, 100);
    EXPECT_EQ(variation.at(9).L, 1);
    EXPECT_EQ(variation.at(10).L, 2);
    EXPECT_EQ(variation.at(29).G, 3);
    EXPECT_EQ(variation.at(99).G, 5);
    EXPECT_EQ(variation.at(100).L, 1);
    EXPECT_EQ(variation.at(710).L, 2);
    EXPECT_TRUE(variation.at(710).holds(729));
    EXPECT_FALSE(variation.at(710).holds(730));
    EXPECT_EQ(Variation({{10, 2, 3}}, 0).at(never - 1).L, 2);
}

TEST(Variation, AMessageArrivesNoEarlierThanThoseThatDepartedBefore) {
    for (const Variation& variation : examples()) {
        for (const Time L : {Time{0}, Time{1}, Time{7}, Time{90}}) {
            const std::vector<Time> expected = arrivals_of_each_picosecond(variation, L, 1000);
            VariationCursor cursor(variation);
            for (Time t = 0; t < 1000; ++t) {
                ASSERT_EQ(cursor.arrival(t, L), expected[static_cast<std::size_t>(t)]) << t << ", L " << L;
            }
        }
    }
}

TEST(Variation, ADepartureIsTheFirstOneThatArrivesThen) {
    for (const Variation& variation : examples()) {
        const std::vector<Time> arrivals = arrivals_of_each_picosecond(variation, 20, 1000);
        for (Time earliest : {0, 35, 99, 500}) {
            for (Time t = earliest; t < 900; t += 13) {
                const Time arrival = arrivals[static_cast<std::size_t>(t)];
                const Time found = variation.departure(earliest, arrival, 20);
                EXPECT_EQ(arrivals[static_cast<std::size_t>(found)], arrival);
                EXPECT_TRUE(found == earliest || arrivals[static_cast<std::size_t>(found - 1)] < arrival);
            }
        }
    }
}

TEST(Variation, AProductIsRoundedToTheNearestPicosecondHalvesUp) {
    EXPECT_EQ(scaled(3, 0.5), 2);
    EXPECT_EQ(scaled(5, 0.49), 2);
    EXPECT_EQ(scaled(never - 1, 1), never - 1);
    EXPECT_THROW(scaled(never / 2, 3), TimeOverflow);
}

TEST(Variation, WhatIsNoTableOfFactorsIsRefused) {
    EXPECT_THROW(Variation({{-1, 1, 1}}, 0), InputError);
    EXPECT_THROW(Variation({{5, 1, 1}, {5, 1, 1}}, 0), InputError);
    EXPECT_THROW(Variation({{5, 1, 1}}, 5), InputError);
    EXPECT_THROW(Variation({{5, 1, 1}}, -5), InputError);
    EXPECT_THROW(Variation({{5, 0, 1}}, 0), InputError);
    EXPECT_THROW(Variation({{5, 1, std::numeric_limits<double>::quiet_NaN()}}, 0), InputError);
    EXPECT_THROW(Variation({{5, 1e7, 1}}, 0), InputError);
}

TEST(Machine, ItsLookaheadHasTheLeastLOfTheLevelsThatVary) {
    Machine machine;
    machine.network.segments[0].parameters = {.L = 100, .o_s = 10};
    machine.variation = Variation({{5, 0.25, 1}, {6, 8, 1}}, 0);
    EXPECT_EQ(machine.lookahead(), 35);
    machine.node = Level{};
    machine.node->segments[0].parameters = {.L = 30, .o_s = 1};
    EXPECT_EQ(machine.lookahead(), 31);
    EXPECT_TRUE(machine.varies(LevelKind::network));
    EXPECT_TRUE(machine.varies(LevelKind::one_sided));
    EXPECT_FALSE(machine.varies(LevelKind::node));
    EXPECT_FALSE(machine.varies(LevelKind::shared_buffer));
}

}  // namespace
}  // namespace idlewave::machine
