#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/large_vector.hpp"
#include "base/time.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "pdes/payload_store.hpp"

namespace idlewave::pdes {

/// Turns queued events into events that a model receives.
template <class M>
class Delivery {
  public:
    using Payload = typename M::Payload;
    using Delivered = Event<Payload>;

    Delivery(const M& model, PayloadPool<Payload>& payloads) : model_(model), payloads_(payloads) {}

    /// `begins`: the beginning of the event's cell or window.
    [[nodiscard, gnu::always_inline]] Delivered deliver(const QueuedEvent& event, Time begins) const {
        const Time time = begins + event.offset;
        if (event.code == QueuedEvent::pooled) [[unlikely]] {
            const PooledPayload<Payload>& slot = payloads_[event.payload_slot];
            return {time, event.source, slot.sequence, &slot.payload};
        }
        return {time, event.source, event.sequence, &model_.payload(event.code)};
    }

    /// What the LP of a queued event will be executed for.
    [[nodiscard, gnu::always_inline]] Upcoming<Payload> upcoming(const QueuedEvent& event) const {
        return {
            event.source == QueuedEvent::timer, event.source,
            event.code == QueuedEvent::pooled ? &payloads_[event.payload_slot].payload : &model_.payload(event.code)};
    }

    /// Frees the payload of an event that no LP will receive again.
    [[gnu::always_inline]] void release(const QueuedEvent& event) {
        if (event.code == QueuedEvent::pooled) [[unlikely]] {
            payloads_.remove(event.payload_slot);
        }
    }

    /// The events of an LP up to `until` in order, without timers. Always inline: GCC leaves a call in the loop else.
    [[gnu::always_inline]] std::span<const Delivered> deliver_all(Lp<typename M::State>& lp,
                                                                  std::span<const QueuedEvent> queued, Time begins,
                                                                  Time until, const Grid& grid) {
        events_.clear();
        for (const QueuedEvent& event : queued) {
            if (event.source != QueuedEvent::timer) {
                events_.push_back(deliver(event, begins));
            } else {
                lp.clear_timer_before(grid.cell_of(until));
            }
        }
        // Events mostly come in order: cell by cell for each thread that sent them, and within a window from one sender
        // after the other.
        const auto before = [](const Delivered& a, const Delivered& b) { return a.before(b); };
        if (!std::is_sorted(events_.begin(), events_.end(), before)) {
            std::sort(events_.begin(), events_.end(), before);
        }
        return events_;
    }

  private:
    const M& model_;
    PayloadPool<Payload>& payloads_;
    LargeVector<Delivered> events_;  ///< events of one LP
};

}  // namespace idlewave::pdes
