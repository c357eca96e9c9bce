// TCP. Nagle's algorithm is off.
#pragma once

#include "network/connection.hpp"
#include "network/sockets.hpp"
#include "network/transports/stream.hpp"

namespace idlewave::probe::network {

template <ControlPlane Control>
Socket connected_tcp_stream(Control& control, const Connection& connection) {
    Socket socket = connected_stream(control, connection);
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    return socket;
}

class TcpData : public StreamData {
  public:
    static constexpr Traits traits = {.name = "tcp", .smallest = smallest};

    template <ControlPlane Control>
    TcpData(Control& control, const Connection& connection)
        : StreamData(connected_tcp_stream(control, connection), connection) {}
};

}  // namespace idlewave::probe::network
