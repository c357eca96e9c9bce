#include "pdes/overflow_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "dice.hpp"
#include "pdes/event.hpp"

namespace idlewave {
namespace {

using pdes::OverflowQueue;
using pdes::PendingEvent;

/// The sequences of the events of the rows up to `last`.
std::vector<std::uint32_t> take(OverflowQueue& queue, std::int64_t last) {
    std::vector<std::uint32_t> taken;
    queue.take_rows(last, [&](const PendingEvent& event) { taken.push_back(event.sequence); });
    return taken;
}

TEST(OverflowQueue, GivesARowInTheOrderInWhichItsEventsCame) {
    OverflowQueue queue;
    EXPECT_EQ(queue.first_row(), OverflowQueue::no_row);
    queue.push({.sequence = 1}, 9);
    queue.push({.sequence = 2}, 4);
    queue.push({.sequence = 3}, 9);
    EXPECT_EQ(queue.first_row(), 4);
    EXPECT_EQ(take(queue, 3), std::vector<std::uint32_t>{});
    EXPECT_EQ(take(queue, 9), (std::vector<std::uint32_t>{2, 1, 3}));
    EXPECT_EQ(queue.first_row(), OverflowQueue::no_row);
}

TEST(OverflowQueue, KeepsTheOrderOfARowThatWasFarAwayWhenItsFirstEventsCame) {
    OverflowQueue queue;
    constexpr std::int64_t far = 1'000'000;
    queue.push({.sequence = 1}, far);
    queue.push({.sequence = 2}, far - 1);
    EXPECT_EQ(queue.first_row(), far - 1);
    EXPECT_TRUE(take(queue, far - 2).empty());
    queue.push({.sequence = 3}, far);
    EXPECT_EQ(take(queue, far), (std::vector<std::uint32_t>{2, 1, 3}));
}

TEST(OverflowQueue, AgreesWithASortedMapOnRandomRows) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        testing::Dice dice(seed);
        OverflowQueue queue;
        std::multimap<std::int64_t, std::uint32_t> expected;  // equal keys keep the order in which they came
        std::int64_t taken = 0;
        for (std::uint32_t i = 0; i < 500; ++i) {
            const std::int64_t row = taken + dice.between(0, dice.one_in(3) ? 20'000 : 30);
            queue.push({.time = row, .sequence = i}, row);
            expected.emplace(row, i);
            ASSERT_EQ(queue.first_row(), expected.begin()->first);
            if (dice.one_in(10)) {
                const std::int64_t last = taken + dice.between(0, 2'000);
                std::vector<std::uint32_t> before;
                while (!expected.empty() && expected.begin()->first <= last) {
                    before.push_back(expected.begin()->second);
                    expected.erase(expected.begin());
                }
                // Only the order within a row is promised.
                std::vector<PendingEvent> events;
                queue.take_rows(last, [&](const PendingEvent& event) { events.push_back(event); });
                std::stable_sort(events.begin(), events.end(),
                                 [](const PendingEvent& a, const PendingEvent& b) { return a.time < b.time; });
                std::vector<std::uint32_t> sequences;
                for (const PendingEvent& event : events) {
                    sequences.push_back(event.sequence);
                }
                ASSERT_EQ(sequences, before) << "seed " << seed;
                taken = last + 1;
            }
        }
        ASSERT_GT(taken, 20'000) << "rows that were far away at first have been taken";
    }
}

}  // namespace
}  // namespace idlewave
