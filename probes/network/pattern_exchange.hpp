// The two ranks of a pattern of messages. What each does is what a program would do: docs/measuring.md has the loops.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "common/page.hpp"
#include "common/switches.hpp"
#include "common/ticks.hpp"
#include "network/pattern_items.hpp"
#include "network/processor_clock.hpp"
#include "network/reference_computation.hpp"

namespace idlewave::probe {

// Memory that has left the caches when its turn comes again: a pool, whose positions are buffers, or are read one after
// the other. A rank has two, to send and to receive, together twice as large as the third-level cache; at least 128
// MiB, and at most 512.
class ColdBuffers {
  public:
    explicit ColdBuffers(std::int64_t max_size)
        : size_(static_cast<std::size_t>(std::max(2 * max_size, pool_bytes()))), pool_(new_pages(size_)) {}

    char* next(std::int64_t size) {
        const auto length = static_cast<std::size_t>(size);
        if (at_ + length > size_) at_ = 0;
        char* const found = pool_.get() + at_;
        at_ += (length / page + 1) * page;
        return found;
    }

    // Reads the next `bytes` bytes of the pool and writes their sum: most of what programs do to memory is reading.
    void sweep(std::size_t bytes) {
        if (at_ + bytes > size_) at_ = 0;
        std::array<std::uint64_t, 4> sums{};
        for (std::size_t i = at_; i + sizeof sums <= at_ + bytes; i += sizeof sums) {
            std::array<std::uint64_t, 4> words;
            std::memcpy(words.data(), pool_.get() + i, sizeof words);
            for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += words[k];
        }
        const std::uint64_t sum = sums[0] + sums[1] + sums[2] + sums[3];
        std::memcpy(pool_.get() + at_, &sum, sizeof sum);
        at_ += bytes;
    }

  private:
    static std::int64_t pool_bytes() {
        constexpr std::int64_t least = 64 << 20;
        constexpr std::int64_t most = 256 << 20;
        return std::clamp<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), least, most);
    }

    static constexpr std::size_t page = 4096;
    std::size_t size_;
    PageMemory pool_;
    std::size_t at_ = 0;
};

class PatternExchange {
  public:
    PatternExchange(int rank, int peer, std::int64_t max_size)
        : first_(rank < peer),
          peer_(peer),
          sent_(static_cast<std::size_t>(max_size)),
          received_(static_cast<std::size_t>(max_size)),
          cold_sent_(max_size),
          cold_received_(max_size) {}

    void repeat(const PatternItem& item, int times) {
        size_ = static_cast<int>(item.size);
        if (item.pattern == Pattern::preposted) {
            preposted(times);
            return;
        }
        for (int i = 0; i < times; ++i) once(item);
    }

    // The time for which this rank computed beyond what the items say, since the last call; ns.
    std::int64_t take_excess_ns() {
        const double ticks = std::exchange(excess_ticks_, 0.0);
        return std::llround(ticks * clock_.tick_ns);
    }

    // The same of the rank that receives late; both ranks call it.
    std::int64_t excess_of_receiver_ns() {
        std::int64_t excess = take_excess_ns();
        if (first_) {
            MPI_Recv(&excess, 1, MPI_INT64_T, peer_, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(&excess, 1, MPI_INT64_T, peer_, answer_tag, MPI_COMM_WORLD);
        }
        return excess;
    }

    // The last exchange after a computation: its time from the moment at which the later rank called, and the
    // involuntary context switches of both ranks in it, with the reference computation of the slower rank beside it.
    struct Exchange {
        std::int64_t ns = 0;
        std::int64_t disturbed = 0;
        ReferenceTimes reference = {};
    };
    static_assert(sizeof(Exchange) == 4 * sizeof(std::int64_t), "it is sent as four numbers");

    // Both ranks call it.
    Exchange last_exchange() {
        Exchange other;
        MPI_Sendrecv(&exchange_, 4, MPI_INT64_T, peer_, answer_tag, &other, 4, MPI_INT64_T, peer_, answer_tag,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return {std::min(exchange_.ns, other.ns),
                exchange_.disturbed + other.disturbed,
                {std::max(exchange_.reference.before_ns, other.reference.before_ns),
                 std::max(exchange_.reference.after_ns, other.reference.after_ns)}};
    }

    // The mean time of a ping-pong of one byte, which shows how fast the machine is at this moment; ns.
    std::int64_t pilot() {
        constexpr int before = 2;
        constexpr int timed = 8;
        size_ = 1;
        for (int i = 0; i < before; ++i) ping_pong(sent_.data(), received_.data());
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        for (int i = 0; i < timed; ++i) ping_pong(sent_.data(), received_.data());
        return (nanoseconds(CLOCK_MONOTONIC) - begin) / timed;
    }

    // The larger of both ranks' values; both call it.
    [[nodiscard]] std::int64_t larger(std::int64_t own) const {
        std::int64_t other = 0;
        MPI_Sendrecv(&own, 1, MPI_INT64_T, peer_, answer_tag, &other, 1, MPI_INT64_T, peer_, answer_tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        return std::max(own, other);
    }

  private:
    void once(const PatternItem& item) {
        switch (item.pattern) {
            case Pattern::ping_pong:
                ping_pong(sent_.data(), received_.data());
                break;
            case Pattern::cold:
                ping_pong(cold_sent_.next(size_), cold_received_.next(size_));
                break;
            case Pattern::stream:
                stream(item.window);
                break;
            case Pattern::late:
                if (!first_) compute(item.delay_ns);
                stream(item.window);
                break;
            case Pattern::blocking_stream:
                blocking_stream(item.window);
                break;
            case Pattern::both_ways:
                start_receives(item.window);
                start_sends(item.window);
                wait();
                break;
            case Pattern::after_computation:
                compute_over_memory(item.delay_ns);
                exchange_ = timed_exchange();
                break;
            case Pattern::preposted:  // its repetitions hang together
            case Pattern::peers:      // it is of all ranks (peer_exchange.hpp)
                break;
        }
    }

    void ping_pong(const void* from, void* to) {
        if (first_) send(from);
        receive(to);
        if (!first_) send(from);
    }

    void stream(int window) {
        if (first_) {
            start_sends(window);
            wait();
            take_answer();
        } else {
            start_receives(window);
            wait();
            answer();
        }
    }

    void blocking_stream(int window) {
        for (int i = 0; i < window; ++i) {
            if (first_) send(sent_.data());
            if (!first_) receive(received_.data());
        }
        if (first_) take_answer();
        if (!first_) answer();
    }

    // Each rank posts the receive of the next message before it sends its own.
    void preposted(int times) {
        start_receives(1);
        for (int i = 0; i < times; ++i) {
            const bool more = i + 1 < times;
            if (first_) send(sent_.data());
            wait();
            if (more) start_receives(1);
            if (!first_) send(sent_.data());
        }
    }

    void compute(std::int64_t ns) {
        const double ticks = static_cast<double>(ns) / clock_.tick_ns;
        const Ticks computed = clock_.compute(static_cast<Ticks>(ticks));
        excess_ticks_ += static_cast<double>(computed) + clock_.wait_cost - ticks;
    }

    void compute_over_memory(std::int64_t ns) {
        constexpr std::size_t step = 4096;  // about a microsecond
        const std::int64_t end = nanoseconds(CLOCK_MONOTONIC) + ns;
        do {
            cold_sent_.sweep(step);
            cold_received_.sweep(step);
        } while (nanoseconds(CLOCK_MONOTONIC) < end);
    }

    Exchange timed_exchange() {
        const std::int64_t before = reference_ns();
        const std::int64_t disturbed = involuntary_switches();
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        start_receives(1);
        start_sends(1);
        wait();
        const std::int64_t end = nanoseconds(CLOCK_MONOTONIC);
        const std::int64_t switches = involuntary_switches() - disturbed;
        return {end - begin, switches, {before, reference_ns()}};
    }

    void send(const void* from) { MPI_Send(from, size_, MPI_BYTE, peer_, data_tag, MPI_COMM_WORLD); }
    void receive(void* to) { MPI_Recv(to, size_, MPI_BYTE, peer_, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
    void answer() const {
        const char text = 0;
        MPI_Send(&text, 1, MPI_CHAR, peer_, answer_tag, MPI_COMM_WORLD);
    }
    void take_answer() const {
        char text = 0;
        MPI_Recv(&text, 1, MPI_CHAR, peer_, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    void start_sends(int window) {
        for (int i = 0; i < window; ++i) {
            MPI_Isend(sent_.data(), size_, MPI_BYTE, peer_, data_tag, MPI_COMM_WORLD, next());
        }
    }
    // All receives have one buffer, as in the OSU benchmarks: its content is not read.
    void start_receives(int window) {
        for (int i = 0; i < window; ++i) {
            MPI_Irecv(received_.data(), size_, MPI_BYTE, peer_, data_tag, MPI_COMM_WORLD, next());
        }
    }
    MPI_Request* next() { return &requests_[open_++]; }
    void wait() {
        MPI_Waitall(static_cast<int>(open_), requests_.data(), MPI_STATUSES_IGNORE);
        open_ = 0;
    }

    static constexpr int data_tag = 20;
    static constexpr int answer_tag = 21;

    bool first_;
    int peer_;
    int size_ = 1;
    ProgramBuffer sent_;
    ProgramBuffer received_;
    ColdBuffers cold_sent_;
    ColdBuffers cold_received_;
    network::ProcessorClock clock_;
    double excess_ticks_ = 0;
    Exchange exchange_;
    std::array<MPI_Request, 2 * most_window> requests_{};
    std::size_t open_ = 0;
};

}  // namespace idlewave::probe
