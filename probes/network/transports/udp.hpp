// UDP: a message is a datagram with eight bytes before it: the sample, and the message's number within it. If a
// datagram is lost, its sample is counted and not recorded: the receiver detects the loss by the next number, or by a
// time-out.
//
// The receiver's buffer holds all bytes on their way, so that no train is lost because the receiver is slow: longer
// trains have fewer messages (column n has the number).
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "network/connection.hpp"
#include "network/slots.hpp"
#include "network/sockets.hpp"

namespace idlewave::probe::network {

class UdpData {
  public:
    static constexpr Traits traits = {.name = "udp"};

    template <ControlPlane Control>
    UdpData(Control& control, const Connection& connection)
        : max_size_(std::min(connection.max_size, largest_datagram - head)), slots_(max_size_, head) {
        HostPort where = agree_on_host(control, connection);
        if (connection.server) {
            socket_ = bound_socket(where, SOCK_DGRAM);
            send_text(control, port_of(socket_));
            const auto client = receive_value<sockaddr_storage>(control);
            join(client, client.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
        } else {
            where.port = receive_text(control);
            const Addresses server = resolve(where, SOCK_DGRAM, false);
            socket_ = Socket(::socket(server->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
            sockaddr_storage address{};
            std::memcpy(&address, server->ai_addr, server->ai_addrlen);
            join(address, server->ai_addrlen);
            sockaddr_storage mine{};
            socklen_t length = sizeof mine;
            getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&mine), &length);
            send_value(control, mine);
        }
        set_patience(socket_, 0.2);
        send_value(control, enlarge_buffer());
        buffer_ = std::min(receive_value<int>(control), enlarge_buffer());
    }

    void start(std::uint32_t sample) {
        sample_ = sample;
        sent_ = 0;
        received_ = 0;
    }
    void refresh(int size, int messages) { slots_.refresh(size, messages); }

    void send(int size, int message) {
        char* datagram = slots_.outgoing(message);
        const std::array<std::uint32_t, 2> numbers = {sample_, sent_++};
        std::memcpy(datagram, numbers.data(), head);
        // A datagram that the system refuses is lost.
        [[maybe_unused]] const ssize_t taken =
            ::send(socket_.get(), datagram, static_cast<std::size_t>(size) + head, MSG_NOSIGNAL);
    }
    void flush() {}

    bool receive(int size, int messages) {
        for (int i = 0; i < messages; ++i) {
            if (!receive_next(size)) return false;
        }
        return true;
    }

    int limit() const { return max_size_; }
    // The system counts more than the bytes: also its own headers, and buffers in powers of two.
    int in_flight(int size) const { return std::max(1, buffer_ / (2 * (size + 1024))); }

  private:
    static constexpr int head = 8;
    static constexpr int largest_datagram = 65507;
    static constexpr int wanted_buffer = 8 * 1024 * 1024;

    void join(const sockaddr_storage& address, std::size_t length) {
        const auto* other = reinterpret_cast<const sockaddr*>(&address);
        if (connect(socket_.get(), other, static_cast<socklen_t>(length)) == 0) return;
        throw failed(std::string("the other side's datagrams cannot be reached: ") + system_word(errno));
    }

    // Makes the buffer as large as the system allows. The size that the system returns is twice the size asked for, for
    // its own needs.
    int enlarge_buffer() {
        set_option(socket_, SOL_SOCKET, SO_RCVBUF, wanted_buffer);
        set_option(socket_, SOL_SOCKET, SO_RCVBUFFORCE, wanted_buffer);
        int size = 0;
        socklen_t length = sizeof size;
        getsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &size, &length);
        return size;
    }

    // Skips datagrams of samples that were given up.
    bool receive_next(int size) {
        while (true) {
            const ssize_t bytes = recv(socket_.get(), slots_.incoming(), static_cast<std::size_t>(max_size_) + head, 0);
            if (bytes < 0 && errno == EINTR) continue;
            if (bytes < head) return false;
            std::array<std::uint32_t, 2> numbers{};
            std::memcpy(numbers.data(), slots_.incoming(), head);
            if (numbers[0] != sample_ || numbers[1] < received_) continue;
            const bool next = numbers[1] == received_;
            received_ = numbers[1] + 1;
            return next && bytes == static_cast<ssize_t>(size) + head;
        }
    }

    int max_size_;
    Slots slots_;
    Socket socket_;
    int buffer_ = 0;
    std::uint32_t sample_ = 0;
    std::uint32_t sent_ = 0;
    std::uint32_t received_ = 0;
};

}  // namespace idlewave::probe::network
