#include "collectives/algorithms.hpp"

#include <array>
#include <string>

#include "base/error.hpp"

namespace idlewave {
namespace {

constexpr std::array collective_names{"barrier",   "bcast",    "reduce",         "allreduce", "gather", "scatter",
                                      "allgather", "alltoall", "reduce_scatter", "scan",      "exscan"};

constexpr std::string_view hensgen = "Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988";
constexpr std::string_view thakur =
    "Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH, 2005";
constexpr std::string_view schedgen = "as LogGOPSim's schedule generator has it";
constexpr std::string_view openmpi = "Open MPI, coll/base";
constexpr std::string_view mpich = "MPICH";

constexpr std::array all{
    Algorithm{Collective::barrier, "dissemination", barrier_dissemination, hensgen},
    Algorithm{Collective::barrier, "linear", barrier_linear, schedgen},
    Algorithm{Collective::barrier, "tree", barrier_tree, openmpi},
    Algorithm{Collective::bcast, "binomial", bcast_binomial, schedgen},
    Algorithm{Collective::bcast, "linear", bcast_linear, openmpi},
    Algorithm{Collective::reduce, "binomial", reduce_binomial, schedgen},
    Algorithm{Collective::reduce, "linear", reduce_linear, openmpi},
    Algorithm{Collective::allreduce, "recursive_doubling", allreduce_recursive_doubling, thakur},
    Algorithm{Collective::allreduce, "ring", allreduce_ring,
              "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009"},
    Algorithm{Collective::allreduce, "rabenseifner", allreduce_rabenseifner, thakur},
    Algorithm{Collective::allreduce, "reduce_bcast", allreduce_reduce_bcast, openmpi},
    Algorithm{Collective::allreduce, "dissemination", allreduce_dissemination, schedgen},
    Algorithm{Collective::gather, "linear", gather_linear, schedgen},
    Algorithm{Collective::gather, "binomial", gather_binomial, mpich},
    Algorithm{Collective::scatter, "linear", scatter_linear, schedgen},
    Algorithm{Collective::scatter, "binomial", scatter_binomial, mpich},
    Algorithm{Collective::allgather, "ring", allgather_ring, thakur},
    Algorithm{Collective::allgather, "bruck", allgather_bruck,
              "Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications, 1997"},
    Algorithm{Collective::alltoall, "linear", alltoall_linear, schedgen},
    Algorithm{Collective::alltoall, "pairwise", alltoall_pairwise, thakur},
    Algorithm{Collective::reduce_scatter, "pairwise", reduce_scatter_pairwise, thakur},
    Algorithm{Collective::scan, "recursive_doubling", scan_recursive_doubling, mpich},
    Algorithm{Collective::scan, "linear", scan_linear, openmpi},
    Algorithm{Collective::exscan, "recursive_doubling", scan_recursive_doubling, mpich},
    Algorithm{Collective::exscan, "linear", scan_linear, openmpi},
};

}  // namespace

std::span<const Algorithm> algorithms() {
    return all;
}

std::string_view name_of(Collective collective) {
    return collective_names[static_cast<std::size_t>(collective)];
}

const Algorithm& algorithm(Collective collective, std::string_view name) {
    std::string names;
    for (const Algorithm& candidate : all) {
        if (candidate.collective != collective) {
            continue;
        }
        if (name.empty() || candidate.name == name) {
            return candidate;
        }
        names += (names.empty() ? "" : ", ") + std::string(candidate.name);
    }
    throw InputError("no algorithm for " + std::string(name_of(collective)) + " is called '" + std::string(name) +
                     "'; there are " + names);
}

Collective collective(std::string_view name) {
    std::string names;
    for (std::size_t i = 0; i < collective_names.size(); ++i) {
        if (collective_names[i] == name) {
            return static_cast<Collective>(i);
        }
        names += (names.empty() ? "" : ", ") + std::string(collective_names[i]);
    }
    throw InputError("no collective is called '" + std::string(name) + "'; there are " + names);
}

}  // namespace idlewave
