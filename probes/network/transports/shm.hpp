// POSIX shared memory: a ring of bytes in each direction, with two counters of the bytes written and read. A message is
// copied into it and out of it once.
//
// A message of up to a chunk becomes visible to the receiver when it is complete. Of a longer message each chunk
// becomes visible, so that copying in and copying out overlap.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "common/failure.hpp"
#include "common/ticks.hpp"
#include "network/connection.hpp"
#include "network/slots.hpp"

namespace idlewave::probe::network {

// One direction. The counters never wrap: 2^64 bytes.
class ShmRing {
  public:
    static constexpr std::size_t capacity = 4 * 1024 * 1024;
    static constexpr std::size_t chunk = 8192;

    void write(const char* from, std::size_t bytes) {
        const std::uint64_t length = bytes;
        const std::size_t first = std::min(bytes, chunk);
        reserve(sizeof length + first);
        copy_in(reinterpret_cast<const char*>(&length), sizeof length);
        copy_in(from, first);
        publish();
        for (std::size_t done = first; done < bytes;) {
            const std::size_t part = std::min(bytes - done, chunk);
            reserve(part);
            copy_in(from + done, part);
            publish();
            done += part;
        }
    }

    // Returns the number of bytes of the message; at most `room` of them are stored.
    std::size_t read(char* to, std::size_t room) {
        std::uint64_t length = 0;
        wait_for(sizeof length);
        copy_out(reinterpret_cast<char*>(&length), sizeof length);
        if (length > room) throw failed("a message in shared memory is longer than expected");
        for (std::size_t done = 0; done < length;) {
            const std::size_t part = std::min<std::size_t>(length - done, chunk);
            wait_for(part);
            copy_out(to + done, part);
            done += part;
            read_.store(taken_, std::memory_order_release);
        }
        read_.store(taken_, std::memory_order_release);
        return length;
    }

  private:
    static constexpr std::int64_t patience_ns = 30'000'000'000;

    // Polls, because a sleep would be part of the times; yields after a while, in case both sides share a CPU.
    template <class Ready>
    static void spin_until(Ready ready) {
        constexpr int turns = 16384;
        std::int64_t begin = 0;
        while (true) {
            for (int i = 0; i < turns; ++i) {
                if (ready()) return;
            }
            sched_yield();
            const std::int64_t now = nanoseconds(CLOCK_MONOTONIC);
            if (begin == 0) begin = now;
            if (now - begin > patience_ns) throw failed("the other side of the shared memory does not answer");
        }
    }

    void reserve(std::size_t bytes) {
        spin_until([&] { return put_ + bytes - read_.load(std::memory_order_acquire) <= capacity; });
    }
    void wait_for(std::size_t bytes) {
        spin_until([&] { return written_.load(std::memory_order_acquire) - taken_ >= bytes; });
    }
    void publish() { written_.store(put_, std::memory_order_release); }

    void copy_in(const char* from, std::size_t bytes) {
        const std::size_t at = put_ % capacity;
        const std::size_t first = std::min(bytes, capacity - at);
        std::memcpy(data_ + at, from, first);
        std::memcpy(data_, from + first, bytes - first);
        put_ += bytes;
    }
    void copy_out(char* to, std::size_t bytes) {
        const std::size_t at = taken_ % capacity;
        const std::size_t first = std::min(bytes, capacity - at);
        std::memcpy(to, data_ + at, first);
        std::memcpy(to + first, data_, bytes - first);
        taken_ += bytes;
    }

    alignas(64) std::atomic<std::uint64_t> written_{0};
    std::uint64_t put_ = 0;  // the writer's own copy
    alignas(64) std::atomic<std::uint64_t> read_{0};
    std::uint64_t taken_ = 0;  // the reader's own copy
    alignas(64) char data_[capacity];
};

// A name for shared memory, which the destructor removes, whatever happens.
class ShmName {
  public:
    ShmName() = default;
    ShmName(const ShmName&) = delete;
    ShmName& operator=(const ShmName&) = delete;
    ~ShmName() { shm_unlink(text_.c_str()); }

    const std::string& text() const { return text_; }

  private:
    std::string text_ = "/idlewave-" + std::to_string(getpid()) + "-" + std::to_string(nanoseconds(CLOCK_REALTIME));
};

// The memory of both rings. Its name is removed as soon as both sides have mapped it.
class ShmMemory {
  public:
    template <ControlPlane Control>
    ShmMemory(Control& control, bool server) {
        refuse_two_hosts(control);
        if (server) {
            const ShmName name;
            map(name.text(), O_CREAT | O_EXCL);
            send_text(control, name.text());
            receive_value<char>(control);
            return;
        }
        map(receive_text(control), 0);
        send_value(control, char{1});
    }

    ShmRing& ring(int direction) { return rings_.get()[direction]; }

  private:
    static constexpr std::size_t bytes = 2 * sizeof(ShmRing);

    struct Unmap {
        void operator()(ShmRing* rings) const { munmap(rings, bytes); }
    };

    template <ControlPlane Control>
    static void refuse_two_hosts(Control& control) {
        send_text(control, host_name());
        const std::string other = receive_text(control);
        if (other == host_name()) return;
        throw failed("shared memory: expected both sides on one host, found '" + host_name() + "' and '" + other + "'");
    }

    // Maps the memory and writes to its pages, so that no page fault occurs in a sample.
    void map(const std::string& name, int create) {
        const int descriptor = shm_open(name.c_str(), O_RDWR | create, 0600);
        if (descriptor < 0) throw failed("shared memory " + name + " cannot be opened: " + system_word(errno));
        bool good = create == 0 || posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)) == 0;
        void* memory =
            good ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0) : MAP_FAILED;
        good = memory != MAP_FAILED;
        ::close(descriptor);
        if (!good) throw failed("there is no room for " + std::to_string(bytes) + " B of shared memory");
        rings_.reset(static_cast<ShmRing*>(memory));
        if (create == 0) return;
        new (&ring(0)) ShmRing;
        new (&ring(1)) ShmRing;
    }

    std::unique_ptr<ShmRing, Unmap> rings_;
};

class ShmData {
  public:
    static constexpr Traits traits = {.name = "shm", .shared_memory = true};

    template <ControlPlane Control>
    ShmData(Control& control, const Connection& connection)
        : memory_(control, connection.server),
          slots_(connection.max_size),
          max_size_(connection.max_size),
          server_(connection.server) {}

    void start(std::uint32_t /*sample*/) {}
    void refresh(int size, int messages) { slots_.refresh(size, messages); }
    void send(int size, int message) {
        memory_.ring(server_ ? 1 : 0).write(slots_.outgoing(message), static_cast<std::size_t>(size));
    }
    void flush() {}
    bool receive(int size, int messages) {
        for (int i = 0; i < messages; ++i) {
            const std::size_t bytes = memory_.ring(server_ ? 0 : 1).read(slots_.incoming(), room());
            if (bytes != static_cast<std::size_t>(size)) throw failed("a message has another length than expected");
        }
        return true;
    }
    int limit() const { return max_size_; }
    int in_flight(int /*size*/) const { return 1 << 20; }

  private:
    std::size_t room() const { return static_cast<std::size_t>(max_size_); }

    ShmMemory memory_;
    Slots slots_;
    int max_size_;
    bool server_;
};

}  // namespace idlewave::probe::network
