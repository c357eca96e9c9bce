// Two sides that share a control channel connect a transport's own sockets.
#pragma once

#include <string>

#include "common/place.hpp"
#include "network/sockets.hpp"
#include "network/transport.hpp"

namespace idlewave::probe::network {

// What a transport receives when one of its sides is set up.
struct Connection {
    bool server = false;   // this side answers
    std::string address;   // the server's host as the client reaches it; empty: the host's name
    double timeout = 30;   // seconds to wait for the other side
    int max_size = 0;      // bytes of the largest message
    std::string provider;  // libfabric's provider, such as "tcp;ofi_rxm"; empty: shared memory within a host
};

// The server's address, which the client receives: on one host the loopback address.
template <ControlPlane Control>
HostPort agree_on_host(Control& control, const Connection& connection) {
    send_text(control, host_name());
    const std::string other = receive_text(control);
    if (!connection.address.empty()) return {connection.address, "0"};
    if (other == host_name()) return {"127.0.0.1", "0"};
    return {connection.server ? host_name() : other, "0"};
}

// A connected pair of stream sockets.
template <ControlPlane Control>
Socket connected_stream(Control& control, const Connection& connection) {
    HostPort where = agree_on_host(control, connection);
    if (connection.server) {
        const Socket listening = bound_socket(where, SOCK_STREAM);
        send_text(control, port_of(listening));
        return accept_one(listening, connection.timeout);
    }
    where.port = receive_text(control);
    return connect_to(where, connection.timeout);
}

}  // namespace idlewave::probe::network
