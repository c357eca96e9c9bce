#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/step.hpp"

namespace idlewave {

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

// The step functions, a file for each family of algorithms.
Step barrier_dissemination(const CollectiveCall& call, StepNumber number);
Step barrier_nway_dissemination(const CollectiveCall& call, StepNumber number);
Step barrier_linear(const CollectiveCall& call, StepNumber number);
Step barrier_tree(const CollectiveCall& call, StepNumber number);
Step bcast_binomial(const CollectiveCall& call, StepNumber number);
Step bcast_linear(const CollectiveCall& call, StepNumber number);
Step bcast_binary(const CollectiveCall& call, StepNumber number);
Step bcast_chain(const CollectiveCall& call, StepNumber number);
Step bcast_scatter_allgather(const CollectiveCall& call, StepNumber number);
Step reduce_binomial(const CollectiveCall& call, StepNumber number);
Step reduce_linear(const CollectiveCall& call, StepNumber number);
Step reduce_pipelined(const CollectiveCall& call, StepNumber number);
Step reduce_rabenseifner(const CollectiveCall& call, StepNumber number);
Step allreduce_recursive_doubling(const CollectiveCall& call, StepNumber number);
Step allreduce_ring(const CollectiveCall& call, StepNumber number);
Step allreduce_rabenseifner(const CollectiveCall& call, StepNumber number);
Step allreduce_reduce_bcast(const CollectiveCall& call, StepNumber number);
Step allreduce_dissemination(const CollectiveCall& call, StepNumber number);
Step gather_linear(const CollectiveCall& call, StepNumber number);
Step gather_binomial(const CollectiveCall& call, StepNumber number);
Step scatter_linear(const CollectiveCall& call, StepNumber number);
Step scatter_binomial(const CollectiveCall& call, StepNumber number);
Step allgather_ring(const CollectiveCall& call, StepNumber number);
Step allgather_recursive_doubling(const CollectiveCall& call, StepNumber number);
Step allgather_bruck(const CollectiveCall& call, StepNumber number);
Step allgather_neighbour_exchange(const CollectiveCall& call, StepNumber number);
Step alltoall_linear(const CollectiveCall& call, StepNumber number);
Step alltoall_pairwise(const CollectiveCall& call, StepNumber number);
Step alltoall_bruck(const CollectiveCall& call, StepNumber number);
Step reduce_scatter_pairwise(const CollectiveCall& call, StepNumber number);
Step reduce_scatter_ring(const CollectiveCall& call, StepNumber number);
Step reduce_scatter_halving(const CollectiveCall& call, StepNumber number);
Step scan_recursive_doubling(const CollectiveCall& call, StepNumber number);
Step scan_linear(const CollectiveCall& call, StepNumber number);
Step exscan_recursive_doubling(const CollectiveCall& call, StepNumber number);
Step exscan_linear(const CollectiveCall& call, StepNumber number);

}  // namespace idlewave
