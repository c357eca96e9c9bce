#include "pdes/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "dice.hpp"
#include "pdes/event.hpp"
#include "small_model.hpp"

namespace idlewave {
namespace {

using pdes::PendingEvent;
using pdes::QueuedEvent;
using Queue = pdes::EventQueue<testing::SmallWindows>;

constexpr Time longest_cell = 16;
constexpr std::uint32_t lps = 10'000;  // several blocks

/// A queue, and what it has given so far.
struct Partition {
    testing::Small small;
    testing::SmallWindows model{small};
    Queue queue{model, longest_cell, lps};
    /// Cell, time, LP and sequence of the events, in the order in which they were taken.
    std::vector<std::tuple<std::int64_t, Time, std::uint32_t, std::uint32_t>> taken;

    void push(Time time, std::uint32_t lp, std::uint32_t sequence, std::uint16_t code = 1) {
        queue.push(PendingEvent{time, lp, 5, {sequence}, code}, queue.grid().cell_of(time));
    }

    /// Takes all events of the earliest cell. Returns that cell, or CalendarQueue::none.
    std::int64_t take_cell() {
        std::int64_t cell = queue.first_cell();
        while (cell != pdes::CalendarQueue::none && !queue.has_buckets(cell)) {
            queue.advance(cell);
            cell = queue.first_cell();
        }
        if (cell == pdes::CalendarQueue::none) {
            return cell;
        }
        queue.advance(cell);
        while (queue.has_events(cell)) {
            const std::uint32_t first_lp = queue.take_block(cell) << queue.grid().block_shift;
            for (const QueuedEvent& event : queue.events()) {
                const PendingEvent found = Queue::pending(event, queue.grid().begin_of(cell), first_lp + event.lp);
                taken.emplace_back(cell, found.time, found.lp, found.sequence);
            }
        }
        return cell;
    }
};

TEST(EventQueue, GivesEveryEventOnceAndInTheOrderOfCells) {
    testing::Dice dice(1);
    Partition partition;
    std::vector<std::tuple<std::int64_t, Time, std::uint32_t, std::uint32_t>> pushed;
    const auto push_some = [&](Time from) {
        for (int i = 0; i < 300; ++i) {
            // Most events lie near, some so far that they have no bucket yet.
            const Time time = from + dice.between(0, dice.one_in(10) ? 1'000'000 : 2'000);
            const std::uint32_t lp = dice.small(lps);
            const auto sequence = static_cast<std::uint32_t>(pushed.size());
            partition.push(time, lp, sequence);
            pushed.emplace_back(partition.queue.grid().cell_of(time), time, lp, sequence);
        }
    };
    push_some(0);
    for (std::int64_t cell = partition.take_cell(); cell != pdes::CalendarQueue::none; cell = partition.take_cell()) {
        if (pushed.size() < 3'000) {
            push_some(partition.queue.grid().begin_of(cell + 1));
        }
    }
    EXPECT_TRUE(std::is_sorted(partition.taken.begin(), partition.taken.end(),
                               [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); }));
    std::sort(pushed.begin(), pushed.end());
    std::sort(partition.taken.begin(), partition.taken.end());
    EXPECT_EQ(partition.taken, pushed);
}

TEST(EventQueue, AnEventForTheCellThatWasTakenLastMakesThatCellTheFirstAgain) {
    Partition partition;
    partition.push(100, 3, 0);
    partition.push(500, 3, 1);
    const std::int64_t cell = partition.take_cell();
    partition.push(101, 4, 2);  // a straggler
    EXPECT_EQ(partition.queue.first_cell(), cell);
    EXPECT_EQ(partition.take_cell(), cell);
    ASSERT_EQ(partition.taken.size(), 2U);
    EXPECT_EQ(std::get<3>(partition.taken[1]), 2U);
}

TEST(EventQueue, TheEventsOfAnLpAreThoseThatNoAntiMessageCancels) {
    Partition partition;
    partition.push(100, 3, 0);
    partition.push(100, 3, 1);
    partition.push(100, 3, 0, QueuedEvent::anti_message);
    const std::int64_t cell = partition.queue.first_cell();
    partition.queue.take_block(cell);
    ASSERT_EQ(partition.queue.events().size(), 3U);
    const auto left = partition.queue.remaining(partition.queue.events(), partition.queue.grid().begin_of(cell));
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].sequence, 1U);
}

}  // namespace
}  // namespace idlewave
