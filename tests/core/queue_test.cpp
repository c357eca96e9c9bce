#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "dice.hpp"
#include "pdes/batch.hpp"
#include "pdes/window_queue.hpp"

namespace idlewave::pdes {
namespace {

using testing::Dice;

struct Nothing {};
using Item = Event<Nothing>;

/// A window queue and a plain map beside it.
class Checked {
  public:
    explicit Checked(Time lookahead) : queue_(lookahead) {}

    void push(Time time) {
        const Item item{time, 0, 0, sent_++, {}};
        queue_.push(item);
        reference_.emplace(queue_.window_of(time), item.sequence);
    }

    /// Takes a window, and checks that it is the earliest and whole. False at the end.
    bool pop() {
        std::vector<Item> items;
        std::int64_t window = -1;
        if (!queue_.pop(items, window)) {
            EXPECT_TRUE(reference_.empty());
            return false;
        }
        EXPECT_EQ(window, reference_.begin()->first);
        std::vector<std::uint64_t> expected;
        for (auto [at, end] = reference_.equal_range(window); at != end; ++at) {
            expected.push_back(at->second);
        }
        reference_.erase(window);
        std::vector<std::uint64_t> found;
        found.reserve(items.size());
        for (const Item& item : items) {
            found.push_back(item.sequence);
        }
        std::sort(found.begin(), found.end());
        EXPECT_EQ(found, expected);
        end_ = queue_.window_end(window);
        return found == expected;
    }

    [[nodiscard]] Time end() const { return end_; }

  private:
    WindowQueue<Nothing> queue_;
    std::multimap<std::int64_t, std::uint64_t> reference_;
    std::uint64_t sent_ = 0;
    Time end_ = 0;
};

/// How far ahead an event may lie, in windows: the queue keeps the near and the far future apart.
Time random_reach(Dice& dice) {
    constexpr Time reaches[] = {20, 4096, 5000, 1 << 14, 1 << 24, 1 << 26};
    return reaches[dice.roll(std::size(reaches))];
}

TEST(WindowQueue, GivesEveryWindowWholeAndInOrder) {
    for (const Time lookahead : {1, 3, 64, 1000}) {
        Dice dice(static_cast<std::uint64_t>(lookahead));
        Checked queue(lookahead);
        for (int i = 0; i < 50; ++i) {
            queue.push(dice.between(0, random_reach(dice) * lookahead));
        }
        for (int i = 0; i < 20'000; ++i) {
            const bool any = queue.pop();
            for (std::uint64_t n = any ? dice.roll(3) : 20; n > 0; --n) {
                queue.push(queue.end() + dice.between(0, random_reach(dice) * lookahead));
            }
        }
        while (queue.pop()) {
        }
    }
}

TEST(WindowQueue, JumpsOverEmptyTimeToTheNextEvent) {
    Checked queue(10);
    const Time far = Time{1} << 60;
    queue.push(0);
    queue.push(far);
    queue.push(far + 100'000);
    queue.push(far + 200'000'000);
    queue.push(far + 2'000'000'000);
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(queue.pop());
    }
    EXPECT_FALSE(queue.pop());
}

TEST(WindowQueue, KeepsTogetherWhatWasSentToOneWindowFromNearAndFar) {
    for (const Time distance :
         {Time{1} << 12, Time{1} << 14, Time{1} << 24, (Time{1} << 24) + (1 << 12), Time{1} << 26}) {
        for (const Time step : {1, 100, 1 << 12}) {
            Checked queue(1);
            queue.push(0);
            queue.push(step);
            queue.push(distance);
            EXPECT_TRUE(queue.pop());
            queue.push(distance);
            queue.push(distance + 1);
            while (queue.end() < distance) {
                queue.push(distance);
                EXPECT_TRUE(queue.pop());
            }
            EXPECT_TRUE(queue.pop());
            EXPECT_FALSE(queue.pop());
        }
    }
}

TEST(WindowQueue, TheLastWindowEndsWithTime) {
    const WindowQueue<Nothing> queue(1 << 20);
    EXPECT_EQ(queue.window_end(queue.window_of(never)), never);
    EXPECT_EQ(queue.window_end(0), 1 << 20);
}

/// What a batch must hand out: all events by LP, and those of an LP in the total order.
void expect_ordered(Dice& dice, std::uint32_t lps, std::size_t events) {
    Batch<Nothing> batch(lps);
    std::vector<std::tuple<std::uint32_t, Time, std::uint32_t, std::uint64_t>> expected;
    for (std::size_t i = 0; i < events; ++i) {
        const bool timer = dice.one_in(5);
        const Item item{dice.between(0, 20), dice.small(lps), timer ? Item::timer : dice.small(4), dice.roll(50), {}};
        batch.items().push_back(item);
        expected.emplace_back(item.destination, item.time, item.source, item.sequence);
    }
    std::sort(expected.begin(), expected.end());
    batch.sort();
    auto next = expected.begin();
    while (!batch.done()) {
        const std::uint32_t lp = batch.lp(0);
        const auto own = batch.take();
        ASSERT_FALSE(own.empty());
        for (const Item& item : own) {
            ASSERT_EQ(item.destination, lp);
            ASSERT_EQ(*next, std::tuple(item.destination, item.time, item.source, item.sequence));
            ++next;
        }
        ASSERT_TRUE(batch.done() || batch.lp(0) > lp) << "an LP has one turn";
    }
    ASSERT_EQ(next, expected.end());
}

TEST(Batch, HandsOutEventsByLpAndInTheTotalOrder) {
    Dice dice(4);
    for (const std::uint32_t lps : {1U, 2U, 7U, 300U, 2048U, 2049U, 5'000'000U}) {
        for (const std::size_t events : {1, 5, 255, 256, 257, 4000}) {
            expect_ordered(dice, lps, events);
        }
    }
}

}  // namespace
}  // namespace idlewave::pdes
