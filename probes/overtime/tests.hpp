// The three tests. In each, rank 0 measures single times until the phase is over; the others do their share until it
// says so.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/page.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "overtime/single_times.hpp"

namespace idlewave::probe::overtime {

constexpr int data_tag = 62;
constexpr int answer_tag = 63;
constexpr int end_tag = 64;
constexpr int most_window = 64;                // messages of a train
constexpr int untimed = 2;                     // exchanges at the beginning of a phase, which only wake the ranks
constexpr std::int64_t most_train = 64 << 20;  // bytes

constexpr int window_of(std::int64_t size) {
    return static_cast<int>(std::clamp<std::int64_t>(most_train / std::max<std::int64_t>(size, 1), 1, most_window));
}

inline double seconds_since(std::int64_t begin_ns) {
    return static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - begin_ns) * 1e-9;
}

// When a phase began and how long it lasted: from the moment when all that take part are awake.
struct Span {
    std::int64_t start_ns = 0;  // Unix time
    std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
    std::int64_t length_ns = 0;

    static Span from_now() { return {nanoseconds(CLOCK_REALTIME), nanoseconds(CLOCK_MONOTONIC), 0}; }
    void finish() { length_ns = nanoseconds(CLOCK_MONOTONIC) - begin_ns; }
    [[nodiscard]] bool over(std::int64_t wanted_ns) const {
        return stop_asked() || nanoseconds(CLOCK_MONOTONIC) - begin_ns >= wanted_ns;
    }
};

class Tests {
  public:
    explicit Tests(std::size_t room) : sent_(room), received_(room), slowest_(most_batch), own_(most_batch) {}

    // A ping-pong; a single time is half a round trip.
    Span latency(int peer, int size, std::int64_t length_ns, SingleTimes& times) {
        const auto exchange = [&] {
            const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
            MPI_Send(sent_.data(), size, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD);
            MPI_Recv(received_.data(), size, MPI_CHAR, peer, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            return 0.5 * seconds_since(begin);
        };
        for (int i = 0; i < untimed; ++i) exchange();
        Span span = Span::from_now();
        do times.add(exchange());
        while (!span.over(length_ns));
        span.finish();
        MPI_Send(nullptr, 0, MPI_CHAR, peer, end_tag, MPI_COMM_WORLD);
        return span;
    }

    void serve_latency(int size) {
        while (next_from_rank_0(size)) {
            MPI_Send(sent_.data(), size, MPI_CHAR, 0, answer_tag, MPI_COMM_WORLD);
        }
    }

    // Trains of messages, whose receives are posted before; a single time is a message's share of its train's.
    Span bandwidth(int peer, int size, std::int64_t length_ns, SingleTimes& times) {
        const int window = window_of(size);
        const auto train = [&] {
            MPI_Send(nullptr, 0, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD);
            await_answer(peer);
            const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
            for (int i = 0; i < window; ++i) {
                MPI_Isend(sent_.data(), size, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD, &requests_[index(i)]);
            }
            MPI_Waitall(window, requests_.data(), MPI_STATUSES_IGNORE);
            await_answer(peer);
            return seconds_since(begin) / window;
        };
        for (int i = 0; i < untimed; ++i) train();
        Span span = Span::from_now();
        do times.add(train());
        while (!span.over(length_ns));
        span.finish();
        MPI_Send(nullptr, 0, MPI_CHAR, peer, end_tag, MPI_COMM_WORLD);
        return span;
    }

    void serve_bandwidth(int size) {
        const int window = window_of(size);
        while (next_from_rank_0(0)) {
            for (int i = 0; i < window; ++i) {
                MPI_Irecv(received_.data(), size, MPI_CHAR, 0, data_tag, MPI_COMM_WORLD, &requests_[index(i)]);
            }
            MPI_Send(nullptr, 0, MPI_CHAR, 0, answer_tag, MPI_COMM_WORLD);
            MPI_Waitall(window, requests_.data(), MPI_STATUSES_IGNORE);
            MPI_Send(nullptr, 0, MPI_CHAR, 0, answer_tag, MPI_COMM_WORLD);
        }
    }

    // Calls of allreduce after a barrier each, in batches; a single time is that of the call's slowest rank. The number
    // of calls in the next batch comes from rank 0, 0 at the end.
    Span allreduce(int size, std::int64_t length_ns, SingleTimes& times) {
        batch(untimed, size);
        Span span = Span::from_now();
        for (int calls = 1; calls > 0;) {
            const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
            batch(calls, size);
            for (int i = 0; i < calls; ++i) times.add(slowest_[index(i)]);
            const std::int64_t each = std::max<std::int64_t>((nanoseconds(CLOCK_MONOTONIC) - begin) / calls, 1);
            const std::int64_t left = span.begin_ns + length_ns - nanoseconds(CLOCK_MONOTONIC);
            const bool over = span.over(length_ns);
            calls = over ? 0 : static_cast<int>(std::clamp<std::int64_t>(left / 8 / each, 1, most_batch));
        }
        span.finish();
        announce(0);
        return span;
    }

    void join_allreduce(int size) {
        while (const int calls = announce(0)) reduce(calls, size);
    }

  private:
    static constexpr int most_batch = 256;

    static std::size_t index(int i) { return static_cast<std::size_t>(i); }

    // The next message of rank 0; false if the phase has ended.
    bool next_from_rank_0(int size) {
        MPI_Status status;
        MPI_Recv(received_.data(), size, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        return status.MPI_TAG != end_tag;
    }

    static void await_answer(int peer) {
        MPI_Recv(nullptr, 0, MPI_CHAR, peer, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    static int announce(int calls) {
        MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return calls;
    }

    void batch(int calls, int size) {
        announce(calls);
        reduce(calls, size);
    }

    void reduce(int calls, int size) {
        const auto* const from = reinterpret_cast<const double*>(sent_.data());
        auto* const to = reinterpret_cast<double*>(received_.data());
        const int numbers = size / static_cast<int>(sizeof(double));
        for (int i = 0; i < calls; ++i) {
            MPI_Barrier(MPI_COMM_WORLD);
            const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
            MPI_Allreduce(from, to, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            own_[index(i)] = seconds_since(begin);
        }
        MPI_Reduce(own_.data(), slowest_.data(), calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    }

    ProgramBuffer sent_;
    ProgramBuffer received_;
    std::vector<double> slowest_;
    std::vector<double> own_;
    std::array<MPI_Request, most_window> requests_{};
};

}  // namespace idlewave::probe::overtime
