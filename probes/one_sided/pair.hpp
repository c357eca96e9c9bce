// The job of a measurement, and what ranks 0 and 1 say to each other beside what they measure.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/ticks.hpp"
#include "network/processor_clock.hpp"
#include "one_sided/operations.hpp"

namespace idlewave::probe::one_sided {

// A rank of the job, and its clock.
struct Job {
    int rank = 0;
    int ranks = 2;
    std::size_t room = 0;  // bytes of each rank's memory, in which all transfers have one place
    network::ProcessorClock clock = {};

    [[nodiscard]] bool origin() const { return rank == 0; }
    [[nodiscard]] int peer() const { return rank == 0 ? 1 : 0; }

    [[nodiscard]] std::int64_t ns(double ticks) const { return std::llround(ticks * clock.tick_ns); }
    [[nodiscard]] Ticks ticks(std::int64_t of_ns) const {
        return static_cast<Ticks>(static_cast<double>(of_ns) / clock.tick_ns);
    }
};

// ---- the control messages of ranks 0 and 1

constexpr int control_tag = 40;

// Both ranks are here. Meanwhile each calls progress(): the other may wait for what this one's library has to do.
template <class Progress>
void meet(const Job& job, const Progress& progress) {
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_CHAR, job.peer(), control_tag, MPI_COMM_WORLD, &sent);
    int there = 0;
    while (there == 0) {
        progress();
        MPI_Iprobe(job.peer(), control_tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
    MPI_Recv(nullptr, 0, MPI_CHAR, job.peer(), control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

// The mean time of a ping-pong of one byte, which shows how fast the machine is at this moment; ns.
inline std::int64_t pilot(const Job& job) {
    constexpr int before = 2;
    constexpr int timed = 8;
    char word = 0;
    const auto once = [&] {
        if (job.origin()) MPI_Send(&word, 1, MPI_CHAR, job.peer(), control_tag, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_CHAR, job.peer(), control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!job.origin()) MPI_Send(&word, 1, MPI_CHAR, job.peer(), control_tag, MPI_COMM_WORLD);
    };
    for (int i = 0; i < before; ++i) once();
    const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    for (int i = 0; i < timed; ++i) once();
    return (nanoseconds(CLOCK_MONOTONIC) - begin) / timed;
}

// The larger of both ranks' values.
inline std::int64_t larger(const Job& job, std::int64_t own) {
    std::int64_t other = 0;
    MPI_Sendrecv(&own, 1, MPI_INT64_T, job.peer(), control_tag, &other, 1, MPI_INT64_T, job.peer(), control_tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return std::max(own, other);
}

// Whether ranks 0 and 1 go on, which rank 0 says.
inline bool go_on(const Job& job, bool wanted) {
    int answer = wanted ? 1 : 0;
    if (job.origin()) MPI_Send(&answer, 1, MPI_INT, 1, control_tag, MPI_COMM_WORLD);
    if (job.rank == 1) MPI_Recv(&answer, 1, MPI_INT, 0, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return answer != 0;
}

// ---- timing

// The time of all of it.
template <class Once>
Times timed(int times, const Once& once) {
    const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    for (int i = 0; i < times; ++i) once();
    return {nanoseconds(CLOCK_MONOTONIC) - begin, 0, 0};
}

// The time of `start` alone, of which `complete` is the rest.
template <class Start, class Complete>
Times timed_start(const Job& job, int times, const Start& start, const Complete& complete) {
    double ticks = 0;
    for (int i = 0; i < times; ++i) {
        const Ticks begin = job.clock.now();
        start();
        ticks += static_cast<double>(job.clock.now() - begin) - job.clock.read_cost;
        complete();
    }
    return {std::max<std::int64_t>(job.ns(ticks), 1), 0, 0};
}

// A transfer alone, and then the same with a computation as long between start and completion.
template <class Start, class Complete>
Times timed_overlap(const Job& job, int times, const Start& start, const Complete& complete) {
    Times sum;
    for (int i = 0; i < times; ++i) {
        const Ticks begin = job.clock.now();
        start();
        complete();
        const Ticks alone = job.clock.now() - begin;
        const Ticks again = job.clock.now();
        start();
        const Ticks computed = job.clock.compute(alone);
        complete();
        const Ticks both = job.clock.now() - again;
        sum.elapsed_ns += job.ns(static_cast<double>(both) - job.clock.read_cost - job.clock.wait_cost);
        sum.alone_ns += job.ns(static_cast<double>(alone) - job.clock.read_cost);
        sum.computed_ns += job.ns(static_cast<double>(computed));
    }
    sum.elapsed_ns = std::max<std::int64_t>(sum.elapsed_ns, 1);
    sum.alone_ns = std::max<std::int64_t>(sum.alone_ns, 1);
    return sum;
}

}  // namespace idlewave::probe::one_sided
