#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "goal/source.hpp"
#include "loggops/message.hpp"

namespace idlewave {

/// Who goes first among requests that are ready at one time (docs/model.md, "Who goes first").
enum class Priority : std::uint8_t { arrival, protocol, send, post, calc };

/// What a request will do when it has what it needs.
enum class RequestKind : std::uint8_t {
    receive_expected,         ///< a message whose receive was posted: the usual case
    receive_unexpected,       ///< one that had none when it arrived
    receive_request_to_send,  ///< the three messages of a rendezvous
    receive_clear_to_send,
    receive_data,
    send_clear_to_send,
    send_data,
    send,
    post,
    calc
};

constexpr Priority priority_of(OpKind kind) {
    return kind == OpKind::send ? Priority::send : kind == OpKind::recv ? Priority::post : Priority::calc;
}
constexpr RequestKind request_kind_of(OpKind kind) {
    return kind == OpKind::send ? RequestKind::send : kind == OpKind::recv ? RequestKind::post : RequestKind::calc;
}

/// Whether it is an op, or the reception of a message whose receive was posted: what makes ops ready one by one.
constexpr bool is_simple(RequestKind kind) {
    return kind >= RequestKind::send || kind == RequestKind::receive_expected;
}

/// Of which things a request's handle is one: messages that had no receive, or open sends.
constexpr bool concerns_arrived_message(RequestKind kind) {
    return kind == RequestKind::receive_unexpected || kind == RequestKind::receive_request_to_send ||
           kind == RequestKind::receive_data || kind == RequestKind::send_clear_to_send;
}
constexpr bool concerns_open_send(RequestKind kind) {
    return kind == RequestKind::receive_clear_to_send || kind == RequestKind::send_data;
}

/// The message that a reception is about.
constexpr MessageKind kind_of(RequestKind reception) {
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

/// Something that a rank has to do: an op, a protocol message, or the reception of an arrival.
template <class Cookie, class Moment = Time>
struct Request {
    /// The op, and when it was ready. Of a message: `at` is when it came or may go, `op.size` and `op.peer` its size
    /// and the other rank, `op_index` the count of transmissions that orders it; of an expected one `cookie` is its
    /// receive's.
    ReadyOp<Cookie, Moment> ready;
    std::uint32_t handle =
        0;  ///< of an expected arrival the receive's op_index; else of the arrived or of the open send
    std::uint16_t message_class = 0;    ///< of an arrival
    std::uint16_t first_resource = 0;   ///< the clock of its CPU
    std::uint16_t second_resource = 0;  ///< the clock of its NIC's side; again the CPU's if it takes no NIC
    Priority priority = Priority::calc;
    RequestKind kind = RequestKind::calc;

    /// The order of requests: ready time, then priority, then messages by (peer, count) and ops by op index. A clear to
    /// send and the data of a send may agree in all of it, since each counts its own side's transmissions: then the one
    /// that was asked for first.
    [[nodiscard]] bool before(const Request& other) const {
        if (time_of(ready.at) != time_of(other.ready.at)) {
            return time_of(ready.at) < time_of(other.ready.at);
        }
        if (priority != other.priority) {
            return priority < other.priority;
        }
        if (priority <= Priority::protocol && ready.op.peer != other.ready.op.peer) {
            return ready.op.peer < other.ready.op.peer;
        }
        if (priority == Priority::protocol && ready.op_index == other.ready.op_index) {
            return ready.op.size < other.ready.op.size;
        }
        return ready.op_index < other.ready.op_index;
    }
};

/// Where a rank keeps the times from which its CPUs and its NICs' send and receive sides are free: in one array.
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

}  // namespace idlewave
