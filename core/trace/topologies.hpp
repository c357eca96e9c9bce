#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/rank_trace.hpp"

namespace idlewave::trace {

/// With whom a neighbourhood collective exchanges messages, in the order of its buffers.
struct Neighborhood {
    /// `rank` is that of the communicator, or MPI_PROC_NULL. A rank may be a neighbour more than once: messages between
    /// two ranks match by `tag`.
    struct Neighbor {
        std::int32_t rank;
        std::int32_t tag;
    };

    std::vector<Neighbor> sources;
    std::vector<Neighbor> destinations;
};

/// The topologies of a trace's communicators.
class Topologies {
  public:
    /// Takes the definition of a Cartesian topology, or the neighbours of `rank` in another one. Throws an InputError
    /// if it is invalid.
    void add(const RankTrace& rank, const TraceRecord& record);

    /// The neighbours of rank `world_rank`, which is `rank` of the communicator with this id; null if it has no
    /// topology.
    [[nodiscard]] const Neighborhood* find(std::uint64_t id, std::uint32_t world_rank, std::uint32_t rank);

  private:
    struct Dimension {
        std::int32_t extent;
        bool periodic;
    };

    void add_grid(const RankTrace& rank, const TraceRecord& record);
    void add_neighbors(const RankTrace& rank, const TraceRecord& record);

    std::map<std::uint64_t, std::vector<Dimension>> grids_;                          ///< by id
    std::map<std::pair<std::uint64_t, std::uint32_t>, Neighborhood> neighborhoods_;  ///< by id and world rank
};

}  // namespace idlewave::trace
