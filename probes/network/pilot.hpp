// What shows how fast the machine is at this moment: the pilot, a ping-pong of one byte between the first two ranks;
// and a barrier of all, since a library may have other ways for collectives, whose speed changes by itself.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "common/ticks.hpp"
#include "network/mpi_program.hpp"

namespace idlewave::probe {

class Pilot {
  public:
    explicit Pilot(MPI_Comm ranks) : ranks_(ranks), rank_(rank_of(ranks)) {}

    // The mean time of a round trip, ns. All ranks call it; those beyond the first two do nothing.
    std::int64_t time() const {
        return rank_ > 1 ? 0 : mean_time(2, 8, [this] { ping_pong(); });
    }

    // The mean time of a barrier of all ranks, ns. All ranks call it.
    std::int64_t barrier_time() const {
        return mean_time(1, 4, [this] { MPI_Barrier(ranks_); });
    }

  private:
    // That of some calls, after a few that are not timed.
    template <class Call>
    static std::int64_t mean_time(int before, int timed, Call call) {
        for (int i = 0; i < before; ++i) call();
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        for (int i = 0; i < timed; ++i) call();
        return (nanoseconds(CLOCK_MONOTONIC) - begin) / timed;
    }

    void ping_pong() const {
        constexpr int tag = 17;
        char byte = 1;
        if (rank_ == 0) MPI_Send(&byte, 1, MPI_CHAR, 1, tag, ranks_);
        MPI_Recv(&byte, 1, MPI_CHAR, 1 - rank_, tag, ranks_, MPI_STATUS_IGNORE);
        if (rank_ == 1) MPI_Send(&byte, 1, MPI_CHAR, 0, tag, ranks_);
    }

    MPI_Comm ranks_;
    int rank_;
};

}  // namespace idlewave::probe
