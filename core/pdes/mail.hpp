#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/time.hpp"

namespace idlewave::pdes {

/// What one partition tells another: an event, or that an event which it told is not to be.
struct Record {
    Time time = 0;
    std::uint32_t lp = 0;  ///< whom, by its place in the partition
    std::uint32_t source = 0;
    std::uint32_t sequence = 0;
    std::uint16_t code = 0;  ///< as Stored; `in_parcel`: the next payload of the mail
    std::uint16_t unused = 0;
};

/// Records on their way from one partition to another, in the order in which they were told.
template <class Payload>
struct Mail {
    Mail* next = nullptr;
    std::uint32_t from = 0;
    std::uint32_t epoch = 0;  ///< of its sender, when it left
    std::vector<Record> records;
    std::vector<Payload> payloads;
};

/// What partitions agree upon: the sums of the first two, the least of the others.
struct Cut {
    static constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::max();

    std::int64_t in_transit = 0;     ///< mails sent before the cut, less those received
    std::int64_t handled = 0;        ///< events, undone ones too
    std::int64_t waiting = nothing;  ///< the cell of the first event that waits
    std::int64_t sent = nothing;     ///< the first cell in which something was told since the cut
    std::int64_t goes_on = nothing;  ///< 0 if a partition wants all to pause
    std::int64_t busiest = nothing;  ///< the negative of what a partition handled

    /// With what another one says.
    void add(const Cut& other) {
        in_transit += other.in_transit;
        handled += other.handled;
        waiting = std::min(waiting, other.waiting);
        sent = std::min(sent, other.sent);
        goes_on = std::min(goes_on, other.goes_on);
        busiest = std::min(busiest, other.busiest);
    }
};

}  // namespace idlewave::pdes
