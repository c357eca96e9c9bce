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

/// The same, and memory is fetched ahead. At each event the first `count` of `steps` are called: the first one with the
/// event that is BlockEvents::margin events ahead, each other one with the event half as far ahead as that of the step
/// before, which has fetched the memory that it reads. Were they called once for each LP only, the events behind an LP
/// with several would be skipped. It reads up to BlockEvents::margin events beyond the end.
template <class Use, class... Steps>
[[gnu::always_inline]] inline void each_lp_of_block(std::span<const QueuedEvent> events, std::size_t count, Use use,
                                                    Steps... steps) {
    static_assert(sizeof...(Steps) <= 4);
    const auto fetch_ahead = [count, steps...](const QueuedEvent* event) __attribute__((always_inline)) {
        std::size_t ahead = 2 * BlockEvents::margin;
        std::size_t step = 0;
        ((step++ < count ? steps(event[ahead /= 2]) : void()), ...);
    };
    const QueuedEvent* event = events.data();
    const QueuedEvent* const end = event + events.size();
    while (event != end) {
        const QueuedEvent* const first = event;
        do {
            fetch_ahead(event++);
        } while (event != end && event->lp == first->lp);
        use(std::span<const QueuedEvent>(first, event));
    }
}

}  // namespace idlewave::pdes
