#include "loggopsim/event_queue.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "dice.hpp"

namespace idlewave::loggopsim {
namespace {

using idlewave::testing::Dice;

/// Times few or many, forward and back, and numbers that mostly ascend: whatever is put in comes out in order.
TEST(EventQueue, GivesEventsByTimeAndThenByNumber) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Dice dice(seed);
        const std::uint32_t times = 1 + dice.small(seed % 2 == 0 ? 4 : 1000);
        EventQueue queue;
        std::map<std::pair<Time, std::uint64_t>, std::uint32_t> expected;
        std::vector<std::uint64_t> old;  // numbers of events that came out, which may be put in again
        std::uint64_t next = 0;
        const auto put = [&](std::uint64_t number) {
            const Time time = Time{dice.small(times)} * 1000;
            const std::uint32_t rank = dice.small(1000);
            if (expected.emplace(std::pair(time, number), rank).second) {
                queue.push({.time = time, .number = number, .rank = rank});
            }
        };
        for (int i = 0; i < 2000; ++i) {
            if (dice.one_in(2)) {
                put(next++);
            } else if (!old.empty() && dice.one_in(4)) {
                put(old[dice.small(static_cast<std::uint32_t>(old.size()))]);
            } else if (!expected.empty()) {
                const Event event = queue.pop();
                ASSERT_EQ(std::pair(event.time, event.number), expected.begin()->first) << "seed " << seed;
                ASSERT_EQ(event.rank, expected.begin()->second) << "seed " << seed;
                old.push_back(event.number);
                expected.erase(expected.begin());
            }
            ASSERT_EQ(queue.empty(), expected.empty());
        }
    }
}

}  // namespace
}  // namespace idlewave::loggopsim
