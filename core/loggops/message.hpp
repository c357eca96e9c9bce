#pragma once

#include <cstdint>

namespace idlewave {

/// What travels between ranks.
enum class MessageKind : std::uint8_t { data, request_to_send, clear_to_send, rendezvous_data };

/// A message under way: the payload of the kernel's events.
struct Message {
    static constexpr std::uint16_t no_class = 0xffff;

    std::uint64_t size = 0;  ///< bytes on the wire; 1 for a request or a clearance to send
    std::uint32_t tag = 0;
    std::uint32_t sending = 0;    ///< the sender's handle of a rendezvous send
    std::uint32_t receiving = 0;  ///< the receiver's handle of the message that the rendezvous is about
    std::uint16_t message_class = no_class;
    MessageKind kind = MessageKind::data;
};

}  // namespace idlewave
