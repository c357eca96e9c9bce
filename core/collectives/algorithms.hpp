#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/step.hpp"

namespace idlewave::collectives {

/// The collective operations of MPI. A nonblocking collective is the same operation; its start and its wait are apart.
enum class Collective : std::uint8_t {
    barrier,
    bcast,
    reduce,
    allreduce,
    gather,
    scatter,
    allgather,
    alltoall,
    reduce_scatter,
    scan,
    exscan
};

/// The counts that an algorithm needs for MPI's v-variants, where each rank has a count of its own.
enum class VectorCounts : std::uint8_t {
    as_in_mpi,      ///< those that MPI passes to each rank
    at_every_rank,  ///< the counts of all ranks, at every rank
    unsupported     ///< equal counts only
};

/// An algorithm of a collective operation.
struct Algorithm {
    Collective collective;
    std::string_view name;
    StepFunction step;
    std::string_view source;  ///< the paper or MPI implementation that describes it
    VectorCounts vector_counts = VectorCounts::as_in_mpi;
};

/// All algorithms. The first of each collective is the default.
std::span<const Algorithm> algorithms();

/// The name of a collective, such as "allreduce".
std::string_view name_of(Collective collective);

/// The algorithm with this name ("": the default). Throws an InputError that lists the names.
const Algorithm& algorithm(Collective collective, std::string_view name);

/// The collective with this name. Throws an InputError that lists the names.
Collective collective(std::string_view name);

// Declares the step function of each row of algorithm_table.hpp, such as allgather_ring.
#define IDLEWAVE_ALGORITHM(collective, name, ...) \
    Step collective##_##name(const CollectiveCall& call, StepNumber number);
#include "collectives/algorithm_table.hpp"
#undef IDLEWAVE_ALGORITHM

}  // namespace idlewave::collectives
