// Unix-domain sockets: a stream between two processes of one host, through the kernel but not through its network
// stack.
//
// The server listens at an abstract address: the name is in no file system, and ends with its socket.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "common/failure.hpp"
#include "common/place.hpp"
#include "network/connection.hpp"
#include "network/sockets.hpp"
#include "network/transports/stream.hpp"

namespace idlewave::probe::network {

template <ControlPlane Control>
Socket connected_unix_stream(Control& control, const Connection& connection) {
    send_text(control, host_name());
    const std::string other = receive_text(control);
    if (other != host_name()) {
        throw failed("Unix sockets: expected both sides on one host, found '" + host_name() + "' and '" + other + "'");
    }
    Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    socklen_t length = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    address.sun_family = AF_UNIX;
    if (connection.server) {
        // An address without a name: the kernel chooses an abstract one that is free.
        bool good = bind(socket.get(), general, sizeof address.sun_family) == 0 && listen(socket.get(), 1) == 0;
        good = good && getsockname(socket.get(), general, &length) == 0;
        if (!good) throw failed(std::string("a Unix socket cannot be listened to: ") + system_word(errno));
        send_text(control, std::string(address.sun_path, length - offsetof(sockaddr_un, sun_path)));
        return accept_one(socket, connection.timeout);
    }
    const std::string name = receive_text(control);
    if (name.size() > sizeof address.sun_path) throw failed("the other side's Unix socket has too long a name");
    name.copy(address.sun_path, name.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (connect(socket.get(), general, length) == 0) return socket;
    throw failed(std::string("the other side's Unix socket cannot be reached: ") + system_word(errno));
}

class UnixData : public StreamData {
  public:
    static constexpr Traits traits = {.name = "unix", .smallest = smallest};

    template <ControlPlane Control>
    UnixData(Control& control, const Connection& connection)
        : StreamData(connected_unix_stream(control, connection), connection) {}
};

}  // namespace idlewave::probe::network
