#include "pdes/lp_events.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pdes/block_events.hpp"
#include "pdes/event.hpp"

namespace idlewave {
namespace {

using pdes::QueuedEvent;

/// The events of some LPs with so many events each, followed by the margin that BlockEvents has.
std::vector<QueuedEvent> block_of(const std::vector<std::size_t>& counts) {
    std::vector<QueuedEvent> events;
    for (std::uint16_t lp = 0; lp < counts.size(); ++lp) {
        for (std::size_t i = 0; i < counts[lp]; ++i) {
            events.push_back({.offset = static_cast<std::uint32_t>(events.size()), .sequence = 0, .lp = lp});
        }
    }
    events.resize(events.size() + pdes::BlockEvents::margin, events.empty() ? QueuedEvent{} : events.back());
    return events;
}

TEST(LpEvents, BothLoopsGiveTheEventsOfEachLpInTheirOrder) {
    const auto none = [](const QueuedEvent& /*event*/) {};
    for (const std::vector<std::size_t>& counts :
         {std::vector<std::size_t>{}, {1}, {3}, {1, 1, 1}, {2, 1, 40}, {40, 0, 1, 2}}) {
        const std::vector<QueuedEvent> block = block_of(counts);
        const std::span<const QueuedEvent> events(block.data(), block.size() - pdes::BlockEvents::margin);
        std::vector<std::size_t> found(counts.size());
        std::uint32_t next = 0;
        const auto use = [&](std::span<const QueuedEvent> of_lp) {
            for (const QueuedEvent& event : of_lp) {
                ASSERT_EQ(event.offset, next++);
                ASSERT_EQ(event.lp, of_lp.front().lp);
            }
            found[of_lp.front().lp] += of_lp.size();
        };
        pdes::each_lp_of_block(events, use);
        EXPECT_EQ(found, counts);
        for (const std::size_t steps : {0U, 1U, 4U}) {
            next = 0;
            found.assign(counts.size(), 0);
            pdes::each_lp_of_block(events, steps, use, none, none, none, none);
            EXPECT_EQ(found, counts);
        }
    }
}

TEST(LpEvents, FetchesForEachEventInFourStepsAlsoBehindAnLpWithSeveral) {
    std::vector<std::size_t> counts;
    for (std::size_t lp = 0; lp < 100; ++lp) {
        counts.push_back(lp % 7 == 0 ? 5 : lp % 3 == 0 ? 2 : 1);
    }
    const std::vector<QueuedEvent> block = block_of(counts);
    const std::span<const QueuedEvent> events(block.data(), block.size() - pdes::BlockEvents::margin);
    std::vector<int> steps(events.size());
    // The first step looks a margin ahead, so it is not called for the first events.
    const auto is_fetched = [](const QueuedEvent& event) { return event.offset >= pdes::BlockEvents::margin; };
    const auto step = [&](int number) {
        return [&, number](const QueuedEvent& event) {
            EXPECT_TRUE(!is_fetched(event) || steps[event.offset] >= number - 1);
            // Behind the end the last event is repeated.
            steps[event.offset] = std::max(steps[event.offset], number);
        };
    };
    std::size_t fetched = 0;
    const auto use = [&](std::span<const QueuedEvent> of_lp) {
        for (const QueuedEvent& event : of_lp) {
            if (is_fetched(event)) {
                EXPECT_EQ(steps[event.offset], 4);
                ++fetched;
            }
        }
    };
    pdes::each_lp_of_block(events, 4, use, step(1), step(2), step(3), step(4));
    EXPECT_EQ(fetched, events.size() - pdes::BlockEvents::margin);
}

TEST(LpEvents, TakesNoFurtherStepsThanAskedFor) {
    const std::vector<QueuedEvent> block = block_of(std::vector<std::size_t>(100, 1));
    const auto refuse = [](const QueuedEvent& /*event*/) { FAIL() << "fetched ahead"; };
    std::size_t fetched = 0;
    const auto fetch = [&fetched](const QueuedEvent& /*event*/) { ++fetched; };
    std::size_t executed = 0;
    const auto use = [&executed](std::span<const QueuedEvent> of_lp) { executed += of_lp.size(); };
    pdes::each_lp_of_block(std::span<const QueuedEvent>(block.data(), 100), 0, use, refuse);
    EXPECT_EQ(executed, 100);
    pdes::each_lp_of_block(std::span<const QueuedEvent>(block.data(), 100), 2, use, fetch, fetch, refuse, refuse);
    EXPECT_EQ(fetched, 200);
}

}  // namespace
}  // namespace idlewave
