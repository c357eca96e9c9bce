// Sockets that fail with a message, and whose waits are bounded.
#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "common/failure.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"

namespace idlewave::probe::network {

class Socket {
  public:
    explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
    Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Socket& operator=(Socket&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    int get() const { return descriptor_; }

  private:
    int descriptor_;
};

struct HostPort {
    std::string host;
    std::string port;
    std::string str() const { return host + ":" + port; }
};

// Parses HOST:PORT at the last colon; an IPv6 address may be in brackets.
inline HostPort host_and_port(const std::string& text, const std::string& option) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon + 1 == text.size() || colon == 0) {
        throw refused(option + ": expected HOST:PORT, found '" + text + "'");
    }
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    return {host, text.substr(colon + 1)};
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

inline Addresses resolve(const HostPort& where, int type, bool passive) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = type;
    hints.ai_flags = passive ? AI_PASSIVE : 0;
    addrinfo* found = nullptr;
    const int status = getaddrinfo(where.host.c_str(), where.port.c_str(), &hints, &found);
    if (status != 0) throw failed(where.str() + ": " + gai_strerror(status));
    return {found, &freeaddrinfo};
}

inline void set_option(const Socket& socket, int level, int name, int value) {
    setsockopt(socket.get(), level, name, &value, sizeof value);
}

// Bounds the wait of one call.
inline void set_patience(const Socket& socket, double seconds) {
    timeval time{};
    time.tv_sec = static_cast<time_t>(seconds);
    time.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

inline Socket bound_socket(const HostPort& where, int type) {
    const Addresses addresses = resolve(where, type, true);
    int error = 0;
    for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
        Socket socket(::socket(a->ai_family, type | SOCK_CLOEXEC, 0));
        set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
        const bool bound = socket.get() >= 0 && bind(socket.get(), a->ai_addr, a->ai_addrlen) == 0;
        if (bound && (type != SOCK_STREAM || listen(socket.get(), 1) == 0)) return socket;
        error = errno;
    }
    throw failed(where.str() + " cannot be listened to: " + system_word(error));
}

// The numerical address of this end (getsockname) or of the other one (getpeername).
template <class Name>
std::string address_of(const Socket& socket, Name name) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    std::array<char, NI_MAXHOST> text{};
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    if (name(socket.get(), general, &length) != 0) throw failed("the other side ended");
    const int status = getnameinfo(general, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
    if (status != 0) throw failed(std::string("an address has no text: ") + gai_strerror(status));
    return text.data();
}

inline std::string port_of(const Socket& socket) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length);
    const bool six = address.ss_family == AF_INET6;
    const in_port_t port = six ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                               : reinterpret_cast<const sockaddr_in*>(&address)->sin_port;
    return std::to_string(ntohs(port));
}

inline Socket accept_one(const Socket& listening, double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    pollfd wanted{listening.get(), POLLIN, 0};
    int ready = -1;
    while (ready < 0) {  // a signal ends a call of poll
        if (stop_asked()) throw failed("told to end before anybody connected");
        const std::chrono::duration<double, std::milli> left = end - std::chrono::steady_clock::now();
        ready = poll(&wanted, 1, static_cast<int>(std::max(left.count(), 0.0)));
        if (ready < 0 && errno != EINTR) throw failed(std::string("no connection: ") + system_word(errno));
    }
    if (ready == 0) throw failed("nobody connected within " + std::to_string(static_cast<int>(seconds)) + " s");
    Socket result(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (result.get() < 0) throw failed(std::string("a connection could not be accepted: ") + system_word(errno));
    return result;
}

// Connects to the other side. If it does not listen yet, tries again until the time is over.
inline Socket connect_to(const HostPort& where, double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    int error = 0;
    do {
        const Addresses addresses = resolve(where, SOCK_STREAM, false);
        for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
            Socket socket(::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
            if (socket.get() < 0) continue;
            set_patience(socket, seconds);
            if (connect(socket.get(), a->ai_addr, a->ai_addrlen) == 0) return socket;
            error = errno;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } while (std::chrono::steady_clock::now() < end);
    throw failed(where.str() + " cannot be reached: " + system_word(error));
}

inline void write_whole(const Socket& socket, const void* from, std::size_t bytes) {
    const char* at = static_cast<const char*>(from);
    while (bytes > 0) {
        const ssize_t sent = ::send(socket.get(), at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) throw failed(std::string("the other side does not take messages: ") + system_word(errno));
        at += sent;
        bytes -= static_cast<std::size_t>(sent);
    }
}

inline void read_whole(const Socket& socket, void* to, std::size_t bytes) {
    char* at = static_cast<char*>(to);
    while (bytes > 0) {
        const ssize_t received = ::recv(socket.get(), at, bytes, 0);
        if (received < 0 && errno == EINTR) continue;
        if (received == 0) throw failed("the other side ended");
        if (received < 0) throw failed(std::string("the other side does not answer: ") + system_word(errno));
        at += received;
        bytes -= static_cast<std::size_t>(received);
    }
}

// The control channel of two processes without MPI.
class TcpControl {
  public:
    TcpControl(Socket socket, double seconds) : socket_(std::move(socket)) {
        set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
        set_patience(socket_, seconds);
    }
    void be_patient(double seconds) { set_patience(socket_, seconds); }
    // The server's address as this side sees it, by which the two are connected.
    std::string server_address(bool server) const {
        return server ? address_of(socket_, getsockname) : address_of(socket_, getpeername);
    }
    void send(const void* from, std::size_t bytes) { write_whole(socket_, from, bytes); }
    void receive(void* to, std::size_t bytes) {
        spin_for_first_byte();
        read_whole(socket_, to, bytes);
    }

  private:
    // Polls for the next order, which comes soon: a sleeping process would wake up late, and with cold caches.
    void spin_for_first_byte() {
        constexpr std::int64_t longest_ns = 500'000;
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        char first = 0;
        while (nanoseconds(CLOCK_MONOTONIC) - begin < longest_ns) {
            if (::recv(socket_.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) return;
        }
    }

    Socket socket_;
};

}  // namespace idlewave::probe::network
