// The loops of the probe of collectives: a collective operation of all ranks of a communicator, called again and again.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/page.hpp"
#include "network/mpi_program.hpp"

namespace idlewave::probe {

// The last one is a reduction within a rank (MPI_Reduce_local): the computation in reductions of several ranks. Scans
// are not among them: their first ranks wait for nobody, and would run ahead.
enum class Collective : std::int64_t {
    barrier,
    bcast,
    reduce,
    allreduce,
    gather,
    scatter,
    allgather,
    alltoall,
    reduce_scatter,
    reduction
};

inline const std::vector<std::string> collective_names{"barrier",        "bcast",    "reduce",    "allreduce",
                                                       "gather",         "scatter",  "allgather", "alltoall",
                                                       "reduce_scatter", "reduction"};

struct CollectiveItem {
    Collective collective = Collective::barrier;
    std::int64_t size = 0;  // bytes, as the model counts them: of the vector, or of one rank's block
};

inline bool is_rooted(Collective collective) {
    return collective == Collective::bcast || collective == Collective::reduce || collective == Collective::gather ||
           collective == Collective::scatter;
}

inline bool combines(Collective collective) {
    switch (collective) {
        case Collective::reduce:
        case Collective::allreduce:
        case Collective::reduce_scatter:
        case Collective::reduction:
            return true;
        default:
            return false;
    }
}

// A rank's buffers hold a block for each rank.
inline bool has_blocks(Collective collective) {
    return collective == Collective::gather || collective == Collective::scatter ||
           collective == Collective::allgather || collective == Collective::alltoall;
}

// Sizes in steps of four up to 1 KiB, then of two. Vectors that are combined consist of floats, and a scattered result
// has a part for each rank.
inline std::vector<CollectiveItem> collective_items(std::int64_t most, int ranks) {
    std::vector<CollectiveItem> items{{Collective::barrier, 0}};
    constexpr std::int64_t most_buffer = std::int64_t{1} << 26;
    for (std::int64_t size = 1; size <= most; size *= size < 1024 ? 4 : 2) {
        for (std::size_t number = 1; number < collective_names.size(); ++number) {
            const auto collective = static_cast<Collective>(number);
            const auto floats = static_cast<std::int64_t>(sizeof(float));
            if (combines(collective) && size < floats) continue;
            if (has_blocks(collective) && size * ranks > most_buffer) continue;
            const std::int64_t scattered = size - size % (floats * ranks);
            if (collective == Collective::reduce_scatter && scattered == 0) continue;
            items.push_back({collective, collective == Collective::reduce_scatter ? scattered : size});
        }
    }
    return items;
}

// The collectives that a barrier follows in the loops.
inline std::vector<std::string> rooted_names() {
    std::vector<std::string> names;
    for (std::size_t number = 0; number < collective_names.size(); ++number) {
        if (is_rooted(static_cast<Collective>(number))) names.push_back(collective_names[number]);
    }
    return names;
}

// The calls of one sample: many of what is short, since a clock's reading takes time, too.
inline int repetitions_of(const CollectiveItem& item, int ranks) {
    constexpr std::int64_t bytes = 1 << 18;
    constexpr std::int64_t most = 16;
    const std::int64_t moved = std::max<std::int64_t>(item.size, 1) * (has_blocks(item.collective) ? ranks : 1);
    return static_cast<int>(std::clamp<std::int64_t>(bytes / moved, 2, most));
}

class CollectiveLoops {
  public:
    CollectiveLoops(MPI_Comm world, const std::vector<CollectiveItem>& items)
        : world_(world),
          rank_(rank_of(world)),
          ranks_(size_of(world)),
          floats_(floats_for(items, ranks_)),
          sent_(floats_ * sizeof(float)),
          received_(floats_ * sizeof(float)) {
        for (const ProgramBuffer* buffer : {&sent_, &received_}) std::fill_n(floats_of(*buffer), floats_, 1.0F);
    }

    // Rank 0 is the root, as in most programs. A barrier follows a collective that has one, so that no rank runs ahead
    // of the others: a library may treat another root otherwise, so it cannot go round.
    void repeat(const CollectiveItem& item, int times) {
        for (int i = 0; i < times; ++i) {
            once(item);
            if (is_rooted(item.collective)) MPI_Barrier(world_);
        }
    }

  private:
    // The floats of a buffer for all ranks' blocks.
    static std::size_t floats_for(const std::vector<CollectiveItem>& items, int ranks) {
        std::int64_t most = 1;
        for (const CollectiveItem& item : items) {
            most = std::max(most, item.size * (has_blocks(item.collective) ? ranks : 1));
        }
        return static_cast<std::size_t>(most) / sizeof(float) + 1;
    }

    static float* floats_of(const ProgramBuffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

    void once(const CollectiveItem& item) {
        constexpr int root = 0;
        const auto bytes = static_cast<int>(item.size);
        const auto floats = static_cast<int>(item.size / static_cast<std::int64_t>(sizeof(float)));
        const MPI_Comm world = world_;
        float* const sent = floats_of(sent_);
        float* const received = floats_of(received_);
        switch (item.collective) {
            case Collective::barrier:
                MPI_Barrier(world);
                break;
            case Collective::bcast:
                MPI_Bcast(rank_ == root ? sent : received, bytes, MPI_CHAR, root, world);
                break;
            case Collective::reduce:
                MPI_Reduce(sent, received, floats, MPI_FLOAT, MPI_MAX, root, world);
                break;
            case Collective::allreduce:
                MPI_Allreduce(sent, received, floats, MPI_FLOAT, MPI_MAX, world);
                break;
            case Collective::gather:
                MPI_Gather(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, root, world);
                break;
            case Collective::scatter:
                MPI_Scatter(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, root, world);
                break;
            case Collective::allgather:
                MPI_Allgather(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, world);
                break;
            case Collective::alltoall:
                MPI_Alltoall(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, world);
                break;
            case Collective::reduce_scatter:
                MPI_Reduce_scatter_block(sent, received, floats / ranks_, MPI_FLOAT, MPI_MAX, world);
                break;
            case Collective::reduction:
                MPI_Reduce_local(sent, received, floats, MPI_FLOAT, MPI_MAX);
                break;
        }
    }

    MPI_Comm world_;
    int rank_;
    int ranks_;
    std::size_t floats_;
    ProgramBuffer sent_;
    ProgramBuffer received_;
};

}  // namespace idlewave::probe
