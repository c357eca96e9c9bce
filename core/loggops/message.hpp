#pragma once

#include <cstdint>

namespace idlewave {

/// What travels between ranks.
enum class MessageKind : std::uint8_t { data, request_to_send, clear_to_send, rendezvous_data };

/// A message under way: the payload of the kernel's events.
struct Message {
    static constexpr std::uint16_t no_class = 0xffff;

    std::uint64_t size = 0;       ///< bytes on the wire; 1 for a request or a clearance to send
    std::uint32_t tag = 0;        ///< of a clearance to send, and of the data: the number of the request to send
    std::uint32_t sending = 0;    ///< where the sender keeps its rendezvous send, if that has not moved
    std::uint32_t receiving = 0;  ///< where the receiver keeps the message that it is about, if that has not moved
    std::uint16_t message_class = no_class;
    MessageKind kind = MessageKind::data;
};

}  // namespace idlewave
