// Messages on a connected stream: a message is a number of bytes that both sides know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "network/connection.hpp"
#include "network/slots.hpp"
#include "network/sockets.hpp"

namespace idlewave::probe::network {

// What the transports over stream sockets share. Each of them connects the socket and has traits of its own.
class StreamData {
  public:
    static constexpr int smallest = 1;  // a stream carries no message without bytes

    void start(std::uint32_t /*sample*/) {}
    void refresh(int size, int messages) { slots_.refresh(size, messages); }
    void send(int size, int message) { write_whole(socket_, slots_.outgoing(message), static_cast<std::size_t>(size)); }
    void flush() {}
    bool receive(int size, int messages) {
        for (int i = 0; i < messages; ++i) read_whole(socket_, slots_.incoming(), static_cast<std::size_t>(size));
        return true;
    }
    int limit() const { return max_size_; }
    int in_flight(int /*size*/) const { return 1 << 20; }

  protected:
    StreamData(Socket connected, const Connection& connection)
        : socket_(std::move(connected)), slots_(connection.max_size), max_size_(connection.max_size) {
        set_patience(socket_, connection.timeout);
    }

  private:
    Socket socket_;
    Slots slots_;
    int max_size_;
};

}  // namespace idlewave::probe::network
