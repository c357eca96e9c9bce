#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "pdes/event.hpp"

namespace idlewave::pdes {

/// Events and anti-messages on their way from one partition to another, in the order in which they were sent.
template <class Payload>
struct MessageBatch {
    MessageBatch* next = nullptr;
    std::uint32_t from = 0;   ///< partition
    std::uint32_t epoch = 0;  ///< its sender's epoch of GVT when it left
    std::vector<PendingEvent> events;
    std::vector<Payload> payloads;
};

/// A consistent cut of a run (F. Mattern: Virtual time and global states of distributed systems, 1989): each partition
/// contributes its numbers; the first two are summed, of the others the least counts.
struct Cut {
    static constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::max();

    std::int64_t in_transit = 0;           ///< batches sent before the cut, less those received
    std::int64_t executed = 0;             ///< events, with those rolled back
    std::int64_t first_pending = nothing;  ///< cell of the earliest pending event
    std::int64_t first_sent = nothing;     ///< earliest cell of an event sent to another partition since the cut
    std::int64_t continues = nothing;      ///< 0 if a partition asks all to pause
    std::int64_t busiest = nothing;        ///< the negative of what one partition executed

    void add(const Cut& other) {
        in_transit += other.in_transit;
        executed += other.executed;
        first_pending = std::min(first_pending, other.first_pending);
        first_sent = std::min(first_sent, other.first_sent);
        continues = std::min(continues, other.continues);
        busiest = std::min(busiest, other.busiest);
    }
};

}  // namespace idlewave::pdes
