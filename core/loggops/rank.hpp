#pragma once

#include <array>
#include <cstdint>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "loggops/match_list.hpp"
#include "loggops/message.hpp"
#include "loggops/request.hpp"
#include "loggops/request_queues.hpp"

namespace idlewave {

/// A posted receive: what a message needs to know of it.
template <class Cookie>
struct Receive {
    std::uint32_t op_index = 0;
    [[no_unique_address]] Cookie cookie = {};
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    bool waits = false;        ///< it is posted
    bool end_pending = false;  ///< it ends when the CPU is free; the source has not received that end yet
};

/// A message that arrived before its receive was posted, or that announces a rendezvous, until its receive has ended.
/// With plain times and no cookies it is a cache line.
template <class Cookie, class Moment>
struct alignas(64) ArrivedMessage {
    std::uint64_t size = 0;  ///< on the wire
    std::uint32_t source = 0;
    std::uint32_t tag = 0;
    std::uint32_t number = 0;   ///< its sender's count of transmissions
    std::uint32_t sending = 0;  ///< of a rendezvous: the sender's handle; while it awaits data, the one before
    MessageKind kind = MessageKind::data;
    bool matched : 1 = false;
    bool processed : 1 = false;
    bool awaits_data : 1 = false;  ///< its sender is cleared to send
    /// While it is the first of two that are unexpected, or awaits data: the other one, or the next one.
    std::uint32_t next = 0;
    Moment arrived_at = {};
    Moment matched_at = {};  ///< when receive and message had met: at the arrival or at the posting
    Moment processed_at = {};
    Receive<Cookie> receive = {};  ///< once matched

    [[nodiscard]] std::uint32_t& before() { return sending; }
};

/// A send by rendezvous, from its request to send until its data have left.
template <class Cookie>
struct OpenSend {
    std::uint64_t size = 0;
    std::uint32_t rank = 0;  ///< whose it is
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint32_t number = 0;     ///< of its request to send
    std::uint32_t receiving = 0;  ///< the receiver's handle, once cleared to send
    std::uint32_t next = 0;       ///< of its rank
    std::uint32_t last = 0;
    bool open = false;
    Receive<Cookie> op = {};  ///< the send itself: its op index, its CPU and NIC

    [[nodiscard]] std::uint32_t& before() { return last; }
};

/// The rendezvous of a rank, by the first of each: its open sends, and the messages that await data.
struct OpenRendezvous {
    std::uint32_t send = 0;
    std::uint32_t arrived = 0;

    [[nodiscard]] bool none() const { return (send | arrived) == 0; }
};

/// What few ranks have at one time: more receives than one, several unexpected messages, many requests.
template <class Cookie, class Moment>
struct Overflow {
    PostedReceiveQueue<Receive<Cookie>> posted;
    UnexpectedMessageQueue<std::uint32_t> unexpected;  ///< handles of arrived_messages
    RequestQueues<Cookie, Moment> requests;

    [[nodiscard]] bool empty() const { return posted.empty() && unexpected.empty() && requests.empty(); }
};

/// All that changes of a simulated rank; small, since there are many millions.
template <class Source, class Moment>
struct Rank {
    using Cookie = typename Source::Cookie;
    static constexpr std::uint32_t few = 0x80000000;

    [[nodiscard]] bool has_overflow() const { return overflow != 0 && (overflow & few) == 0; }
    /// The handle of the first unexpected message where there are one or two and no overflow, or 0.
    [[nodiscard]] std::uint32_t first_unexpected() const { return (overflow & few) != 0 ? overflow - few : 0; }

    /// Whether the receive that waits alone is for a message `from` a rank with `tag`.
    [[nodiscard]] bool agrees(std::uint32_t from, std::uint32_t tag) const {
        // Both alike is what nearly always holds, and is asked first.
        return (posted_source == from && posted_tag == tag) ||
               (matches(posted_source, from) && matches(posted_tag, tag));
    }

    std::array<Moment, 3> free_times{};  ///< as ResourceLayout says, for one CPU and one NIC
    typename Source::template State<Moment> source;
    std::uint32_t pending = 0;  ///< the first of its waiting requests
    std::uint32_t overflow =
        0;  ///< its Overflow, if it has one; or `few` and the first of one or two unexpected messages
    /// The receive that was posted last while no other waited; or that is `end_pending`, while none waits here.
    std::uint32_t posted_source = 0;
    std::uint32_t posted_tag = 0;
    Receive<Cookie> posted = {};
};

}  // namespace idlewave
