#pragma once

#include <cstddef>
#include <span>

#include "pdes/block_events.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// Calls `use` with the events of each LP of a block, one LP after the other: `events` as BlockEvents gives them.
template <class Use>
void each_lp_of_block(std::span<const QueuedEvent> events, Use use) {
    for (std::size_t i = 0; i < events.size();) {
        const std::size_t first = i++;
        while (i < events.size() && events[i].lp == events[first].lp) {
            ++i;
        }
        use(events.subspan(first, i - first));
    }
}

/// The same, and before each LP calls `prefetch` with an event that lies far ahead, and `prefetch_more` with one that
/// lies nearer, for what the first call's memory leads to. It reads beyond the end, up to BlockEvents::margin.
template <class Prefetch, class PrefetchMore, class Use>
[[gnu::always_inline]] inline void each_lp_of_block(std::span<const QueuedEvent> events, Prefetch prefetch,
                                                    PrefetchMore prefetch_more, Use use) {
    constexpr std::size_t distance = BlockEvents::margin;
    constexpr std::size_t near = 8;
    const QueuedEvent* event = events.data();
    const QueuedEvent* const end = event + events.size();
    while (event != end) {
        prefetch(event[distance]);
        prefetch_more(event[near]);
        const QueuedEvent* const first = event++;
        while (event != end && event->lp == first->lp) {
            ++event;
        }
        use(std::span<const QueuedEvent>(first, event));
    }
}

}  // namespace idlewave::pdes
