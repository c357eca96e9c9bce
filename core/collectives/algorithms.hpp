#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/step.hpp"

namespace idlewave {

/// The collective operations of MPI. Nonblocking ones are the same operation, begun and waited for apart.
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

/// A way to carry out a collective operation.
struct Algorithm {
    Collective collective;
    std::string_view name;
    StepFunction step;
    std::string_view source;  ///< the paper or MPI implementation that it follows
};

/// All algorithms; of each collective the first is the default.
std::span<const Algorithm> algorithms();

/// The name of a collective, such as "allreduce".
std::string_view name_of(Collective collective);

/// The algorithm of this name ("" for the default). Throws InputError that lists the names there are.
const Algorithm& algorithm(Collective collective, std::string_view name);

/// The collective of this name. Throws InputError that lists the names there are.
Collective collective(std::string_view name);

// What the steps are: one file for each kind of operation.
Step barrier_dissemination(const CollectiveCall& call, std::uint64_t number);
Step barrier_linear(const CollectiveCall& call, std::uint64_t number);
Step barrier_tree(const CollectiveCall& call, std::uint64_t number);
Step bcast_binomial(const CollectiveCall& call, std::uint64_t number);
Step bcast_linear(const CollectiveCall& call, std::uint64_t number);
Step reduce_binomial(const CollectiveCall& call, std::uint64_t number);
Step reduce_linear(const CollectiveCall& call, std::uint64_t number);
Step allreduce_recursive_doubling(const CollectiveCall& call, std::uint64_t number);
Step allreduce_ring(const CollectiveCall& call, std::uint64_t number);
Step allreduce_rabenseifner(const CollectiveCall& call, std::uint64_t number);
Step allreduce_reduce_bcast(const CollectiveCall& call, std::uint64_t number);
Step allreduce_dissemination(const CollectiveCall& call, std::uint64_t number);
Step gather_linear(const CollectiveCall& call, std::uint64_t number);
Step gather_binomial(const CollectiveCall& call, std::uint64_t number);
Step scatter_linear(const CollectiveCall& call, std::uint64_t number);
Step scatter_binomial(const CollectiveCall& call, std::uint64_t number);
Step allgather_ring(const CollectiveCall& call, std::uint64_t number);
Step allgather_bruck(const CollectiveCall& call, std::uint64_t number);
Step alltoall_linear(const CollectiveCall& call, std::uint64_t number);
Step alltoall_pairwise(const CollectiveCall& call, std::uint64_t number);
Step reduce_scatter_pairwise(const CollectiveCall& call, std::uint64_t number);
Step scan_recursive_doubling(const CollectiveCall& call, std::uint64_t number);
Step scan_linear(const CollectiveCall& call, std::uint64_t number);

}  // namespace idlewave
