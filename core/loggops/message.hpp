#pragma once

#include <cstdint>

namespace idlewave::loggops {

/// The kinds of messages between ranks: an eager message, the three messages of a rendezvous (docs/model.md, R11), and
/// those of one-sided operations (R23 to R26).
enum class MessageKind : std::uint8_t {
    data,
    request_to_send,
    clear_to_send,
    rendezvous_data,
    put,
    get,        ///< the request of a get
    get_reply,  ///< its data
    lock,
    shared_lock,
    unlock,
    acknowledgement  ///< of a put or an unlock; the grant of a lock
};

constexpr bool is_one_sided(MessageKind kind) {
    return kind >= MessageKind::put;
}

/// A message on its way: the payload of the kernel's events.
///
/// A rendezvous is known by its sender and its id, the sequence number of its request to send. Each side also sends the
/// handle of its own record, so that the other side can return it and no search is needed.
///
/// A message of a one-sided operation carries the operation itself, which the target returns (Origin): instead of the
/// handles its index and cookie, and instead of the class its CPU and NIC.
struct Message {
    static constexpr std::uint16_t no_class = 0xffff;

    std::uint64_t size = 0;  ///< bytes on the wire; 1 for a request to send or a clear to send
    union {
        std::uint32_t tag = 0;        ///< of an eager message or a request to send
        std::uint32_t rendezvous_id;  ///< of a clear to send or rendezvous data
    };
    std::uint32_t sender_handle = 0;    ///< of the OpenSend at the sender, unless it has moved
    std::uint32_t receiver_handle = 0;  ///< of the OpenReceive at the receiver, unless it has moved
    std::uint16_t message_class = no_class;
    MessageKind kind = MessageKind::data;
};
static_assert(sizeof(Message) == 24);

}  // namespace idlewave::loggops
