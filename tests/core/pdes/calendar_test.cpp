#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "dice.hpp"
#include "pdes/block_events.hpp"
#include "pdes/calendar_queue.hpp"

namespace idlewave::pdes {
namespace {

using testing::Dice;

/// An event as the calendar has to return it: LP, time, source, sequence.
using Expected = std::tuple<std::uint32_t, Time, std::uint32_t, std::uint32_t>;

/// The calendars of several writers, which are compared with a std::multimap.
class Checked {
  public:
    Checked(Time lookahead, std::uint32_t lps, std::uint32_t writers) : grid_(lookahead, lps, 1), block_(grid_) {
        for (std::uint32_t i = 0; i < writers; ++i) {
            calendars_.push_back(std::make_unique<CalendarQueue>(grid_, store_));
            pointers_.push_back(calendars_.back().get());
        }
    }

    void push(std::uint32_t writer, Time time, std::uint32_t lp) {
        calendars_[writer]->push(time, lp, 5, sent_, 0);
        reference_.emplace(time, Expected{lp, time, 5, sent_++});
    }

    /// Takes the next window, and checks that it is the earliest and complete. Returns false at the end.
    bool take_window() {
        std::int64_t cell = CalendarQueue::none;
        for (CalendarQueue* calendar : pointers_) {
            cell = std::min(cell, calendar->first(next_));
        }
        if (cell == CalendarQueue::none) {
            EXPECT_TRUE(reference_.empty());
            return false;
        }
        const bool exact = calendars_[0]->is_near(cell);
        for (CalendarQueue* calendar : pointers_) {
            calendar->advance(cell);
        }
        next_ = cell;
        if (!exact) {
            return take_window();
        }
        EXPECT_EQ(cell, grid_.cell_of(reference_.begin()->first)) << "a window begins at its first event";
        next_ = std::min(cell + grid_.window_cells, (cell / Grid::row + 1) * Grid::row);
        expect_window(cell);
        return !::testing::Test::HasFailure();
    }

    [[nodiscard]] Time end() const { return grid_.begin_of(next_); }
    [[nodiscard]] const Grid& grid() const { return grid_; }

  private:
    void expect_window(std::int64_t cell) {
        std::vector<Expected> expected;
        while (!reference_.empty() && reference_.begin()->first < end()) {
            expected.push_back(reference_.begin()->second);
            reference_.erase(reference_.begin());
        }
        std::vector<Expected> found;
        for (std::uint32_t block = 0; block < grid_.blocks; ++block) {
            block_.gather(pointers_, *pointers_.front(), block, cell, next_);
            std::uint32_t last = 0;
            for (const QueuedEvent& event : block_.events()) {
                EXPECT_LE(last, event.lp) << "the events of an LP are next to each other";
                last = event.lp;
                found.emplace_back((block << grid_.block_shift) + event.lp, grid_.begin_of(cell) + event.offset,
                                   event.source, event.sequence);
            }
        }
        std::sort(expected.begin(), expected.end());
        std::sort(found.begin(), found.end());
        EXPECT_EQ(found, expected);
    }

    Grid grid_;
    ChunkStore store_;
    BlockEvents block_;
    std::vector<std::unique_ptr<CalendarQueue>> calendars_;
    std::vector<CalendarQueue*> pointers_;
    std::multimap<Time, Expected> reference_;
    std::uint32_t sent_ = 0;
    std::int64_t next_ = 0;
};

/// Random distance of an event from the present, in cells: in a bucket, in the ring of rows, or in the heap beyond it.
Time random_reach(Dice& dice) {
    constexpr Time reaches[] = {6, 60, 128, 200, 5000, 1 << 18, 1 << 20};
    return reaches[dice.roll(std::size(reaches))];
}

void expect_windows(Time lookahead, std::uint32_t lps, std::uint32_t writers) {
    Dice dice(static_cast<std::uint64_t>(lookahead) + lps);
    Checked calendars(lookahead, lps, writers);
    const Time cell = Time{1} << calendars.grid().cell_shift;
    const auto push = [&](Time from) {
        calendars.push(dice.small(writers), from + dice.between(0, random_reach(dice) * cell), dice.small(lps));
    };
    for (int i = 0; i < 50; ++i) {
        push(0);
    }
    for (int i = 0; i < 3000; ++i) {
        const bool more = calendars.take_window();
        ASSERT_FALSE(::testing::Test::HasFailure());
        for (std::uint64_t n = more ? dice.roll(4) : 20; n > 0; --n) {
            push(calendars.end());
        }
    }
    while (calendars.take_window()) {
    }
}

/// How many they are decides by which sort. An anti-message comes behind its event, so each sort must be stable.
TEST(BlockEvents, TheEventsOfAnLpKeepTheOrderInWhichTheyCame) {
    Dice dice(1);
    for (unsigned shift = 1; shift <= Grid::largest_block_shift; ++shift) {
        const std::uint32_t lps = (1U << shift) - 1;
        const Grid grid(Time{1000}, lps);
        ASSERT_EQ(grid.block_shift, shift);
        ChunkStore store;
        CalendarQueue calendar(grid, store);
        BlockEvents block(grid);
        std::int64_t cell = 0;
        for (const std::uint32_t count : {1U, 2U, 24U, 25U, 100U, lps / 4, lps / 4 + 1, lps, 3 * lps}) {
            calendar.advance(cell);
            for (std::uint32_t sequence = 0; sequence < count; ++sequence) {
                calendar.push(grid.begin_of(cell), dice.small(lps), 5, sequence, 0);
            }
            block.gather(calendar, 0, cell++);
            ASSERT_EQ(block.size(), count);
            const auto order = [](const QueuedEvent& event) { return std::pair(event.lp, event.sequence); };
            for (std::size_t i = 1; i < count; ++i) {
                ASSERT_LT(order(block.events()[i - 1]), order(block.events()[i])) << shift << ", " << count;
            }
        }
    }
}

TEST(CalendarQueue, ReturnsEveryWindowCompleteAndInOrder) {
    for (const Time lookahead : {1, 3, 64, 1000, 1 << 30}) {
        for (const std::uint32_t lps : {1U, 70U, 10'000U}) {
            expect_windows(lookahead, lps, 1);
            expect_windows(lookahead, lps, 3);
        }
    }
}

TEST(CalendarQueue, SkipsEmptyTimeUpToTheNextEvent) {
    Checked calendars(10, 4, 1);
    const Time far = Time{1} << 60;
    for (const Time time : {Time{0}, far, far + 100'000, far + 200'000'000, far + 2'000'000'000}) {
        calendars.push(0, time, 1);
    }
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(calendars.take_window());
    }
    EXPECT_FALSE(calendars.take_window());
}

TEST(CalendarQueue, ABucketMayHaveMoreEventsThanAChunk) {
    Checked calendars(1 << 20, 9000, 2);
    Dice dice(1);
    for (int i = 0; i < 20'000; ++i) {
        calendars.push(dice.small(2), 1 << 21, dice.small(9000));
    }
    EXPECT_TRUE(calendars.take_window());
    EXPECT_FALSE(calendars.take_window());
}

TEST(Grid, AWindowIsNoWiderThanTheLookaheadAndNotMuchNarrower) {
    for (const Time lookahead : {Time{1}, Time{2}, Time{3}, Time{4}, Time{7}, Time{1000}, Time{4'000'000}}) {
        const Grid grid(lookahead, 100, 1);
        const Time window = grid.begin_of(grid.window_cells);
        EXPECT_LE(window, lookahead);
        EXPECT_GT(2 * window, lookahead);
    }
}

TEST(Grid, TheLastCellEndsWithTime) {
    const Grid grid(1 << 20, 1, 1);
    EXPECT_EQ(grid.begin_of(grid.cell_of(never) + 1), never);
}

}  // namespace
}  // namespace idlewave::pdes
