// TCP: a message is a number of bytes of the stream that both sides know. Nagle's algorithm is off.
#pragma once

#include "network/connection.hpp"
#include "network/slots.hpp"
#include "network/sockets.hpp"

namespace idlewave::probe::network {

class TcpData {
  public:
    static constexpr Traits traits = {.name = "tcp", .smallest = 1};  // a stream carries no message without bytes

    template <ControlPlane Control>
    TcpData(Control& control, const Connection& connection)
        : socket_(connected_stream(control, connection)), slots_(connection.max_size), max_size_(connection.max_size) {
        set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
        set_patience(socket_, connection.timeout);
    }

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

  private:
    Socket socket_;
    Slots slots_;
    int max_size_;
};

}  // namespace idlewave::probe::network
