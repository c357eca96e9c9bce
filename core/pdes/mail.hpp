#pragma once

#include <cstdint>
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

/// What partitions agree upon: the sum of `in_transit`, the least of the others.
struct Cut {
    std::int64_t in_transit = 0;  ///< mails sent before the cut, less those received
    std::int64_t waiting = 0;     ///< the cell of the first event that waits
    std::int64_t sent = 0;        ///< the first cell in which something was told since the cut
};

}  // namespace idlewave::pdes
