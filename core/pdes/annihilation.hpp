#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "pdes/event.hpp"
#include "pdes/model.hpp"
#include "pdes/payload_store.hpp"

namespace idlewave::pdes {

/// Anti-messages annihilate their events when the bucket is opened in which both lie.
template <WindowModel M>
class Annihilation {
  public:
    using Payload = typename M::Payload;

    explicit Annihilation(PayloadPool<Payload>& payloads) : payloads_(payloads) {}

    /// The events of one LP in one cell, which begins at `begins`, that are not cancelled. Of one source and sequence,
    /// event and anti-message are in the order in which they were sent.
    std::span<const QueuedEvent> remaining(std::span<const QueuedEvent> events, Time begins) {
        remaining_.clear();
        sorted_.assign(events.begin(), events.end());
        const auto key = [this](const QueuedEvent& event) {
            return std::tuple(event.source, sequence_of(event), event.offset);
        };
        std::stable_sort(sorted_.begin(), sorted_.end(),
                         [&](const QueuedEvent& a, const QueuedEvent& b) { return key(a) < key(b); });
        for (const QueuedEvent& event : sorted_) {
            if (event.code != QueuedEvent::anti_message) {
                remaining_.push_back(event);
                continue;
            }
            if (remaining_.empty() || key(remaining_.back()) != key(event)) {
                throw LogicError("an event from LP " + std::to_string(event.source) + " at " +
                                 std::to_string(begins + event.offset) + " " + std::string(time_unit<M>) +
                                 " is cancelled, and was never sent");
            }
            if (remaining_.back().code == QueuedEvent::pooled) {
                payloads_.remove(remaining_.back().payload_slot);
            }
            remaining_.pop_back();
        }
        return remaining_;
    }

  private:
    [[nodiscard]] std::uint32_t sequence_of(const QueuedEvent& event) const {
        return event.code == QueuedEvent::pooled ? payloads_[event.payload_slot].sequence : event.sequence;
    }

    PayloadPool<Payload>& payloads_;
    std::vector<QueuedEvent> sorted_;
    std::vector<QueuedEvent> remaining_;
};

}  // namespace idlewave::pdes
