// What rank 0 tells the other ranks: which phase begins. Between phases they sleep, and look for a message seldom.
#pragma once

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "network/job.hpp"

namespace idlewave::probe::overtime {

enum class Phase : std::int64_t { end, latency, bandwidth, allreduce, idle, load };

constexpr bool is_active(Phase phase) {
    return phase == Phase::latency || phase == Phase::bandwidth || phase == Phase::allreduce;
}

struct Order {
    Phase phase = Phase::end;
    std::int64_t peer = -1;
    std::int64_t size = 0;
    std::int64_t length_ns = 0;
};

constexpr int order_tag = 61;

inline void give_order(const Order& order, int ranks) {
    const std::array<std::int64_t, 4> message{static_cast<std::int64_t>(order.phase), order.peer, order.size,
                                              order.length_ns};
    for (int rank = 1; rank < ranks; ++rank) {
        MPI_Send(message.data(), static_cast<int>(message.size()), MPI_INT64_T, rank, order_tag, MPI_COMM_WORLD);
    }
}

inline Order await_order() {
    std::array<std::int64_t, 4> message{};
    await_message(0, order_tag);
    MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_INT64_T, 0, order_tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return {static_cast<Phase>(message[0]), message[1], message[2], message[3]};
}

// Sleeps until that time of CLOCK_MONOTONIC, or until a signal asks to stop. A signal that comes just before a sleep
// does not end it; so each is short.
inline void sleep_until(std::int64_t end_ns) {
    constexpr std::int64_t longest_ns = 100'000'000;
    while (!stop_asked()) {
        const std::int64_t left = std::min(end_ns - nanoseconds(CLOCK_MONOTONIC), longest_ns);
        if (left <= 0) return;
        const timespec length{0, static_cast<long>(left)};
        nanosleep(&length, nullptr);
    }
}

// For a rank that has nothing to do in a phase: it is awake a little before the phase ends.
inline void sleep_through(std::int64_t length_ns) {
    constexpr std::int64_t early_ns = 2'000'000;
    sleep_until(nanoseconds(CLOCK_MONOTONIC) + length_ns - early_ns);
}

}  // namespace idlewave::probe::overtime
