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

/// The same. For each event it calls the first `count` of `steps`, before the event's LP is executed, with an event
/// that lies ahead: the first step with that which is BlockEvents::margin events ahead, each other one half as far as
/// the one before, whose memory it needs. So no event is left out where an LP has several. It reads beyond the end, up
/// to that margin.
template <class Use, class... Steps>
[[gnu::always_inline]] inline void each_lp_of_block(std::span<const QueuedEvent> events, std::size_t count, Use use,
                                                    Steps... steps) {
    static_assert(sizeof...(Steps) <= 4);
    const auto look_ahead = [count, steps...](const QueuedEvent* event) __attribute__((always_inline)) {
        std::size_t ahead = 2 * BlockEvents::margin;
        std::size_t step = 0;
        ((step++ < count ? steps(event[ahead /= 2]) : void()), ...);
    };
    const QueuedEvent* event = events.data();
    const QueuedEvent* const end = event + events.size();
    while (event != end) {
        const QueuedEvent* const first = event;
        do {
            look_ahead(event++);
        } while (event != end && event->lp == first->lp);
        use(std::span<const QueuedEvent>(first, event));
    }
}

}  // namespace idlewave::pdes
