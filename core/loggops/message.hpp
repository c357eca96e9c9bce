#pragma once

#include <cstdint>

namespace idlewave::loggops {

/// The kinds of messages between ranks: an eager message, and the three messages of a rendezvous (docs/model.md, R11).
enum class MessageKind : std::uint8_t { data, request_to_send, clear_to_send, rendezvous_data };

/// A message on its way: the payload of the kernel's events.
///
/// A rendezvous is known by its sender and its id, the sequence number of its request to send. Each side also sends the
/// handle of its own record, so that the other side can return it and no search is needed.
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
