#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "goal/source.hpp"
#include "loggops/message.hpp"

namespace idlewave::loggops {

/// The precedence among requests that are ready at one time (docs/model.md, R15).
enum class Priority : std::uint8_t { arrival, protocol, nic_transmission, send, post, calc };

/// The action of a request, once its resources are free. The order matters to `is_simple`.
enum class RequestKind : std::uint8_t {
    receive_expected,         ///< receive a message whose receive was posted at its arrival: the usual case
    receive_unexpected,       ///< receive a message whose receive was not
    receive_request_to_send,  ///< receive one of the three messages of a rendezvous
    receive_clear_to_send,
    receive_data,
    send_clear_to_send,
    send_data,
    receive_one_sided,  ///< receive a message of a one-sided operation at its target
    receive_get_reply,
    initiate_reply,   ///< the CPU hands the reply to a get to the NIC
    transmit_by_nic,  ///< the NIC transmits what was handed to it
    send,             ///< an op that takes the CPU and the NIC's send side
    initiate,         ///< a put, get, lock or unlock: its CPU hands its transmission to the NIC
    post,             ///< a receive or an await, which take no time
    post_on_cpu,      ///< a receive that takes the CPU
    calc
};

/// The precedence of an op. Puts, gets, locks and unlocks have that of sends,
/// and awaits that of receives. Receives that take the CPU
/// have that of sends: among both the place in the schedule decides.
constexpr Priority priority_of(goal::OpKind kind, bool posts_take_cpu) {
    switch (kind) {
        case goal::OpKind::calc:
            return Priority::calc;
        case goal::OpKind::recv:
            return posts_take_cpu ? Priority::send : Priority::post;
        case goal::OpKind::await:
            return Priority::post;
        default:
            return Priority::send;
    }
}

/// The request of an op.
constexpr RequestKind request_kind_of(goal::OpKind kind, bool posts_take_cpu) {
    switch (kind) {
        case goal::OpKind::calc:
            return RequestKind::calc;
        case goal::OpKind::recv:
            return posts_take_cpu ? RequestKind::post_on_cpu : RequestKind::post;
        case goal::OpKind::await:
            return RequestKind::post;
        case goal::OpKind::send:
            return RequestKind::send;
        default:
            return RequestKind::initiate;
    }
}

/// Whether the request is an op or the reception of an expected message. These make at most one op ready at a time.
constexpr bool is_simple(RequestKind kind) {
    return kind >= RequestKind::send || kind == RequestKind::receive_expected;
}

/// Whether the request is a reception, a transmission or the initiation of a reply of a one-sided operation.
constexpr bool is_one_sided(RequestKind kind) {
    return kind >= RequestKind::receive_one_sided && kind <= RequestKind::transmit_by_nic;
}

/// The kind of message that a reception receives.
constexpr MessageKind message_kind_of(RequestKind reception) {
    switch (reception) {
        case RequestKind::receive_request_to_send:
            return MessageKind::request_to_send;
        case RequestKind::receive_clear_to_send:
            return MessageKind::clear_to_send;
        case RequestKind::receive_data:
            return MessageKind::rendezvous_data;
        default:
            return MessageKind::data;
    }
}

/// A request of a rank for its resources: by an op, by a protocol step, by a transmission by a NIC, or by a message
/// that the rank receives (docs/model.md, R14).
template <class Cookie, class Moment = Time>
struct Request {
    /// The op and its ready time. For a message `op` holds the size on the wire, the other rank, and the CPU and NIC;
    /// and `op_index` and `cookie` are those of the op that it belongs to, for an expected message or a one-sided op.
    [[no_unique_address]] goal::ReadyOp<Cookie, Moment> ready;
    /// Of a message: its number among the transmissions of its sender; of a protocol request the number of
    /// the transmission that it answers. It is in the padding of `ready`: a rank of a gather has thousands of requests.
    std::uint32_t sequence = 0;
    /// The record of a message: an ArrivedMessage, an OpenSend or an OpenReceive, depending on the kind. Of a message
    /// of a one-sided operation, which has no record, the MessageKind.
    std::uint32_t handle = 0;
    /// Of a protocol request and of a transmission by a NIC: requests are counted in the order in which they are made,
    /// modulo 2^32. Only the order of two requests with the same ready time matters, and these are closer together than
    /// 2^31.
    std::uint32_t request_id = 0;
    std::uint16_t message_class = 0;    ///< of a message that is received; the CPU and NIC of a one-sided op (Origin)
    std::uint16_t first_resource = 0;   ///< the CPU; a side of the NIC for what needs no CPU
    std::uint16_t second_resource = 0;  ///< a side of the NIC; the first one again for what needs one only
    Priority priority = Priority::calc;
    RequestKind kind = RequestKind::calc;

    /// Whether this request has precedence over another (docs/model.md, R15).
    [[nodiscard, gnu::always_inline]] bool before(const Request& other) const {
        if (time_of(ready.at) != time_of(other.ready.at)) {
            return time_of(ready.at) < time_of(other.ready.at);
        }
        if (priority != other.priority) {
            return priority < other.priority;
        }
        if (priority > Priority::nic_transmission) {
            return ready.op_index < other.ready.op_index;
        }
        if (priority == Priority::nic_transmission) {
            return made_before(other);
        }
        if (ready.op.peer != other.ready.op.peer) {
            return ready.op.peer < other.ready.op.peer;
        }
        if (sequence != other.sequence || priority == Priority::arrival) {
            return sequence < other.sequence;
        }
        return made_before(other);
    }

  private:
    [[nodiscard]] bool made_before(const Request& other) const {
        return static_cast<std::int32_t>(request_id - other.request_id) < 0;
    }
};

static_assert(sizeof(Request<goal::NoCookie>) == 56);

/// The resources of a rank in one array: its CPUs, then the send sides and the receive sides of its NICs.
struct ResourceLayout {
    std::uint16_t cpus = 1;
    std::uint16_t nics = 1;

    [[nodiscard]] std::uint32_t size() const { return cpus + 2U * nics; }
    [[nodiscard]] static std::uint16_t cpu(std::uint8_t i) { return i; }
    [[nodiscard]] std::uint16_t tx(std::uint8_t i) const { return static_cast<std::uint16_t>(cpus + i); }
    [[nodiscard]] std::uint16_t rx(std::uint8_t i) const { return static_cast<std::uint16_t>(cpus + nics + i); }
};

/// The same where every rank has one CPU and one NIC.
struct SingleResourceLayout {
    std::uint16_t cpus = 1;
    std::uint16_t nics = 1;

    [[nodiscard]] static std::uint32_t size() { return 3; }
    [[nodiscard]] static std::uint16_t cpu(std::uint8_t /*i*/) { return 0; }
    [[nodiscard]] static std::uint16_t tx(std::uint8_t /*i*/) { return 1; }
    [[nodiscard]] static std::uint16_t rx(std::uint8_t /*i*/) { return 2; }
};

}  // namespace idlewave::loggops
