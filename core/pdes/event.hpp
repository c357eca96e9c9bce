#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace idlewave::pdes {

/// What a logical process (LP) is told, and when. The order in which one LP handles its events is (time, source,
/// sequence): it depends on no placement and no scheduler.
template <class Payload>
struct Event {
    Time time = 0;
    std::uint32_t source = 0;
    std::uint32_t sequence = 0;  ///< how many events the source had sent before
    const Payload* payload = nullptr;

    [[nodiscard]] bool before(const Event& other) const {
        if (time != other.time) {
            return time < other.time;
        }
        return source != other.source ? source < other.source : sequence < other.sequence;
    }
};

/// An event as it waits, in 16 bytes: all of its bucket's events lie in one cell of time and go to one block of LPs.
struct Stored {
    std::uint32_t offset = 0;    ///< ps after the beginning of its cell; of its window once that is open
    std::uint32_t source = 0;    ///< `timer`: no event, the LP wants to be visited
    std::uint32_t sequence = 0;  ///< where `code` is `in_parcel`, the number of its parcel
    std::uint16_t lp = 0;        ///< in the block
    std::uint16_t code = 0;      ///< of the payload, as the model says

    static constexpr std::uint32_t timer = 0xffffffff;
    static constexpr std::uint16_t in_parcel = 0xffff;
    static constexpr std::uint16_t anti = 0xfffe;  ///< takes back an event, that of the same source and sequence
};
static_assert(sizeof(Stored) == 16);

}  // namespace idlewave::pdes
