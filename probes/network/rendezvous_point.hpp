// How two sides that share a control channel find each other for a transport's own sockets.
#pragma once

#include <string>

#include "common/place.hpp"
#include "network/sockets.hpp"
#include "network/transport.hpp"

namespace idlewave::probe::network {

struct SocketPlace {
    bool server = false;
    std::string address;  // of the server's host, as the client sees it; empty: by its name
    double seconds = 30;  // to wait for the other side
};

// The server's address, told to the client: on one host the loopback's.
template <ControlPlane Control>
HostPort agree_on_host(Control& control, const SocketPlace& place) {
    send_text(control, host_name());
    const std::string other = receive_text(control);
    if (!place.address.empty()) return {place.address, "0"};
    if (other == host_name()) return {"127.0.0.1", "0"};
    return {place.server ? host_name() : other, "0"};
}

// A connected pair of stream sockets.
template <ControlPlane Control>
Socket connected_stream(Control& control, const SocketPlace& place) {
    HostPort where = agree_on_host(control, place);
    if (place.server) {
        const Socket listening = bound_socket(where, SOCK_STREAM);
        send_text(control, port_of(listening));
        return accept_one(listening, place.seconds);
    }
    where.port = receive_text(control);
    return connect_to(where, place.seconds);
}

}  // namespace idlewave::probe::network
