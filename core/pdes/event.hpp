#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace idlewave::pdes {

/// An event as a logical process (LP) receives it. An LP executes its events in the order of (time, source, sequence),
/// which depends on no placement and no scheduler.
template <class Payload>
struct Event {
    Time time = 0;
    std::uint32_t source = 0;    ///< the LP that sent it
    std::uint32_t sequence = 0;  ///< number of events that the source had sent before
    const Payload* payload = nullptr;

    [[nodiscard]] bool before(const Event& other) const {
        if (time != other.time) {
            return time < other.time;
        }
        return source != other.source ? source < other.source : sequence < other.sequence;
    }
};

/// What an LP will be executed for: an event, or a timer, which has neither a source nor a payload.
template <class Payload>
struct Upcoming {
    bool is_timer = false;
    std::uint32_t source = 0;
    const Payload* payload = nullptr;
};

/// An event in a bucket of the calendar queue, in 16 bytes: all events of a bucket lie in one cell of time and go to
/// LPs of one block.
struct QueuedEvent {
    std::uint32_t offset = 0;  ///< ticks after the beginning of its cell; after that of its window once that is open
    std::uint32_t source = 0;  ///< `timer`: it is no event, but wakes the LP up
    /// What only passes an event on copies `sequence`, whichever of the two it is; GCC and Clang allow that.
    union {
        std::uint32_t sequence = 0;  ///< of an anti-message, that of the event that it cancels
        std::uint32_t payload_slot;  ///< where `code` is `pooled`: in the PayloadPool, which has the sequence, too
    };
    std::uint16_t lp = 0;    ///< index in the block
    std::uint16_t code = 0;  ///< stands for a payload, as the model says

    static constexpr std::uint32_t timer = 0xffffffff;
    static constexpr std::uint16_t pooled = 0xffff;        ///< the payload lies in the PayloadPool
    static constexpr std::uint16_t anti_message = 0xfffe;  ///< cancels the event of the same source and sequence
};
static_assert(sizeof(QueuedEvent) == 16);

/// An event or anti-message outside of a bucket: on its way to a partition, in the overflow of the calendar queue, or
/// held back.
struct PendingEvent {
    Time time = 0;
    std::uint32_t lp = 0;  ///< the receiver's index in its partition
    std::uint32_t source = 0;
    union {
        std::uint32_t sequence = 0;
        std::uint32_t payload_slot;  ///< as in QueuedEvent, once the payload is in the receiver's PayloadPool
    };
    std::uint16_t code = 0;  ///< as in QueuedEvent; in a message batch `pooled` stands for the batch's next payload
    std::uint16_t unused = 0;
};

/// An event that an LP has sent, as far as it is needed to cancel the event, or to compare it with another one.
struct SentEvent {
    Time time = 0;
    std::uint32_t destination = 0;
    std::uint32_t code = 0;  ///< as in QueuedEvent

    bool operator==(const SentEvent&) const = default;
};

}  // namespace idlewave::pdes
