#pragma once

#include <cstdint>
#include <type_traits>

#include "goal/op.hpp"
#include "loggops/matching.hpp"
#include "loggops/message.hpp"

namespace idlewave::loggops {

/// The one-sided operation that a message belongs to, at its origin. It travels with the message and comes back with
/// the answer, so that the origin needs no record of its own.
template <class Cookie>
struct Origin {
    goal::OpIndex op_index = 0;
    [[no_unique_address]] Cookie cookie = {};
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;

    [[nodiscard]] std::uint16_t resources() const { return static_cast<std::uint16_t>(cpu | nic << 8); }
    void set_resources(std::uint16_t resources) {
        cpu = static_cast<std::uint8_t>(resources);
        nic = static_cast<std::uint8_t>(resources >> 8);
    }
};

/// Writes the origin into a message.
template <class Cookie>
void set_origin(Message& message, const Origin<Cookie>& origin) {
    message.sender_handle = origin.op_index;
    if constexpr (std::is_same_v<Cookie, std::uint32_t>) {
        message.receiver_handle = origin.cookie;
    } else {
        static_assert(std::is_empty_v<Cookie>, "a message has room for a cookie of 32 bits");
    }
    message.message_class = origin.resources();
}

template <class Cookie>
Origin<Cookie> origin_of(const Message& message) {
    Origin<Cookie> origin{.op_index = message.sender_handle};
    if constexpr (std::is_same_v<Cookie, std::uint32_t>) {
        origin.cookie = message.receiver_handle;
    }
    origin.set_resources(message.message_class);
    return origin;
}

/// A lock that a rank holds or waits for, at the target.
template <class Cookie, class Moment>
struct LockRequest {
    std::uint32_t origin_rank = 0;
    std::uint32_t tag = 0;
    bool shared = false;
    bool granted = false;
    Origin<Cookie> origin = {};
    Moment landed_at = {};
    std::uint32_t next = 0;  ///< the next request for a lock of this rank, in the order in which they landed
};

/// What a rank has of one-sided operations of others: notifications and awaits, and the requests for its locks.
template <class Cookie>
struct OneSidedState {
    MatchState<Cookie> notifications;
    std::uint32_t first_lock = 0;  ///< the handle of the oldest LockRequest
    std::uint32_t last_lock = 0;

    [[nodiscard]] bool none() const { return notifications.empty() && first_lock == 0; }
};

}  // namespace idlewave::loggops
