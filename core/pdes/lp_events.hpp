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

/// The same, and before each LP calls `fetch_first`, `fetch_next` and `fetch_last` with events that lie ahead, each
/// nearer than the one before: each needs what the one before has brought into the cache. It reads beyond the end, up
/// to BlockEvents::margin.
template <class FetchFirst, class FetchNext, class FetchLast, class Use>
[[gnu::always_inline]] inline void each_lp_of_block(std::span<const QueuedEvent> events, FetchFirst fetch_first,
                                                    FetchNext fetch_next, FetchLast fetch_last, Use use) {
    constexpr std::size_t farthest = BlockEvents::margin;
    const QueuedEvent* event = events.data();
    const QueuedEvent* const end = event + events.size();
    while (event != end) {
        fetch_first(event[farthest]);
        fetch_next(event[farthest / 2]);
        fetch_last(event[farthest / 4]);
        const QueuedEvent* const first = event++;
        while (event != end && event->lp == first->lp) {
            ++event;
        }
        use(std::span<const QueuedEvent>(first, event));
    }
}

}  // namespace idlewave::pdes
