// The pilot: a ping-pong of one byte between the first two ranks, which shows how fast the machine is at this moment.
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
        constexpr int before = 2;
        constexpr int timed = 8;
        if (rank_ > 1) return 0;
        for (int i = 0; i < before; ++i) ping_pong();
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        for (int i = 0; i < timed; ++i) ping_pong();
        return (nanoseconds(CLOCK_MONOTONIC) - begin) / timed;
    }

  private:
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
