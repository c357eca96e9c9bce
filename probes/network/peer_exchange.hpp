// Ranks in a ring, each of which exchanges messages with several others at once; docs/measuring.md has the loop.
#pragma once

#include <mpi.h>
#include <time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/page.hpp"
#include "common/place.hpp"

namespace idlewave::probe {

constexpr int most_peers = 4;

class PeerExchange {
  public:
    PeerExchange(int rank, int ranks, std::int64_t max_size)
        : rank_(rank),
          ranks_(ranks),
          sent_(static_cast<std::size_t>(max_size)),
          received_(static_cast<std::size_t>(max_size)) {}

    // So many times a message to each of the `peers` ranks after this one, and one from each of those before it.
    void repeat(int peers, std::int64_t size, int times) {
        for (int i = 0; i < times; ++i) once(peers, static_cast<int>(size));
    }

  private:
    void once(int peers, int size) {
        std::size_t open = 0;
        for (int i = 1; i <= peers; ++i) {
            const int source = (rank_ - i + ranks_) % ranks_;
            MPI_Irecv(received_.data(), size, MPI_BYTE, source, data_tag, MPI_COMM_WORLD, &requests_[open++]);
        }
        for (int i = 1; i <= peers; ++i) {
            const int target = (rank_ + i) % ranks_;
            MPI_Isend(sent_.data(), size, MPI_BYTE, target, data_tag, MPI_COMM_WORLD, &requests_[open++]);
        }
        MPI_Waitall(static_cast<int>(open), requests_.data(), MPI_STATUSES_IGNORE);
    }

    static constexpr int data_tag = 30;

    int rank_;
    int ranks_;
    ProgramBuffer sent_;
    ProgramBuffer received_;
    std::array<MPI_Request, 2 * std::size_t{most_peers}> requests_{};
};

// Whether ranks have to take turns on a CPU.
inline bool ranks_share_cpus(const std::vector<ProcessPlace>& places) {
    std::map<std::pair<std::string, int>, int> ranks_of;  // by host, and CPU, -1 for ranks that are bound to none
    for (const ProcessPlace& place : places) {
        const int there = ++ranks_of[{place.host(), place.cpu}];
        if (there > (place.cpu < 0 ? place.cpus : 1)) return true;
    }
    return false;
}

// ---- the ranks that take no part in patterns between two: they sleep until rank 0 orders an exchange

struct PeerOrder {
    std::int64_t peers = 0;  // 0: the end
    std::int64_t size = 0;
    std::int64_t times = 0;
};

constexpr int order_tag = 31;

inline void order_others(int ranks, const PeerOrder& order) {
    for (int other = 2; other < ranks; ++other) {
        MPI_Send(&order, 3, MPI_INT64_T, other, order_tag, MPI_COMM_WORLD);
    }
}

// A rank that shares its CPU with a measuring one wakes rarely, so as to leave it alone.
inline void follow_orders(int rank, int ranks, std::int64_t max_size, bool shared) {
    const timespec pause{0, shared ? 5'000'000 : 100'000};
    PeerExchange exchange(rank, ranks, max_size);
    while (true) {
        int there = 0;
        MPI_Iprobe(0, order_tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (there == 0) {
            nanosleep(&pause, nullptr);
            continue;
        }
        PeerOrder order;
        MPI_Recv(&order, 3, MPI_INT64_T, 0, order_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (order.peers == 0) return;
        MPI_Barrier(MPI_COMM_WORLD);  // the others wait until all are awake
        exchange.repeat(static_cast<int>(order.peers), order.size, static_cast<int>(order.times));
    }
}

}  // namespace idlewave::probe
