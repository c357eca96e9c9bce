#pragma once

#include <cstdint>

#include "loggops/started_op.hpp"

namespace idlewave::loggops {

/// The sender's record of a rendezvous, from its request to send until its data have left.
template <class Cookie>
struct OpenSend {
    std::uint64_t size = 0;
    std::uint32_t rank = 0;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint32_t rendezvous_id = 0;
    std::uint32_t receiver_handle = 0;  ///< the receiver's OpenReceive, once there is a clear to send
    std::uint32_t next = 0;             ///< in the list of its rank
    std::uint32_t previous = 0;
    bool open = false;
    StartedOp<Cookie> op = {};
};

/// The receiver's record of a rendezvous, from the time at which it may send its clear to send until the data are
/// processed.
template <class Cookie, class Moment>
struct alignas(64) OpenReceive {
    std::uint32_t source = 0;
    std::uint32_t rendezvous_id = 0;
    std::uint32_t sender_handle = 0;  ///< the sender's OpenSend
    std::uint32_t next = 0;           ///< in the list of its rank
    std::uint32_t previous = 0;
    bool open = false;
    bool cleared = false;  ///< the clear to send has left, so the sender knows this record's handle
    StartedOp<Cookie> op = {};
    Moment requested_at = {};     ///< the request to send arrived
    Moment data_arrived_at = {};  ///< the data arrived
};

/// The open rendezvous of a rank: the first records of its two lists.
struct OpenRendezvous {
    std::uint32_t send = 0;
    std::uint32_t receive = 0;

    [[nodiscard]] bool none() const { return (send | receive) == 0; }
};

}  // namespace idlewave::loggops
