#include "collectives/algorithms.hpp"

#include <array>
#include <string>

#include "base/error.hpp"
#include "base/quote.hpp"

namespace idlewave {
namespace {

constexpr std::array collective_names{"barrier",   "bcast",    "reduce",         "allreduce", "gather", "scatter",
                                      "allgather", "alltoall", "reduce_scatter", "scan",      "exscan"};

constexpr std::string_view hensgen = "Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988";
constexpr std::string_view thakur =
    "Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH, 2005";
constexpr std::string_view bruck =
    "Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications, 1997";
constexpr std::string_view ring =
    "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009";
constexpr std::string_view schedgen = "as LogGOPSim's schedule generator has it";

constexpr std::array all{
    Algorithm{Collective::barrier, "dissemination", barrier_dissemination, hensgen},
    Algorithm{Collective::barrier, "nway_dissemination", barrier_nway_dissemination,
              "Hoefler, Mehlan, Mietke, Rehm: Fast barrier synchronization for InfiniBand, 2006"},
    Algorithm{Collective::barrier, "linear", barrier_linear, schedgen},
    Algorithm{Collective::barrier, "tree", barrier_tree, "Open MPI, coll_base_barrier.c: tree"},
    Algorithm{Collective::bcast, "binomial", bcast_binomial, schedgen},
    Algorithm{Collective::bcast, "linear", bcast_linear, "Open MPI, coll_base_bcast.c: basic_linear"},
    Algorithm{Collective::bcast, "binary", bcast_binary, "Open MPI, coll_base_bcast.c: bintree"},
    Algorithm{Collective::bcast, "chain", bcast_chain, "Open MPI, coll_base_bcast.c: pipeline"},
    Algorithm{Collective::bcast, "scatter_allgather", bcast_scatter_allgather,
              "Barnett, Gupta, Payne, Shuler, van de Geijn, Watts: Interprocessor collective communication library, "
              "1994; as in MPICH, bcast_intra_scatter_ring_allgather.c"},
    Algorithm{Collective::reduce, "binomial", reduce_binomial, schedgen},
    Algorithm{Collective::reduce, "linear", reduce_linear, "Open MPI, coll_base_reduce.c: basic_linear"},
    Algorithm{Collective::reduce, "pipelined", reduce_pipelined, "Open MPI, coll_base_reduce.c: pipeline"},
    Algorithm{Collective::reduce, "rabenseifner", reduce_rabenseifner,
              "Thakur, Rabenseifner, Gropp 2005; MPICH, reduce_intra_reduce_scatter_gather.c"},
    Algorithm{Collective::allreduce, "recursive_doubling", allreduce_recursive_doubling, thakur},
    Algorithm{Collective::allreduce, "ring", allreduce_ring, ring},
    Algorithm{Collective::allreduce, "rabenseifner", allreduce_rabenseifner,
              "Thakur, Rabenseifner, Gropp 2005; MPICH, allreduce_intra_reduce_scatter_allgather.c"},
    Algorithm{Collective::allreduce, "reduce_bcast", allreduce_reduce_bcast,
              "Open MPI, coll_base_allreduce.c: nonoverlapping"},
    Algorithm{Collective::allreduce, "dissemination", allreduce_dissemination, schedgen},
    Algorithm{Collective::gather, "linear", gather_linear, schedgen},
    Algorithm{Collective::gather, "binomial", gather_binomial, "MPICH, gather_intra_binomial.c",
              VectorCounts::at_every_rank},
    Algorithm{Collective::scatter, "linear", scatter_linear, schedgen},
    Algorithm{Collective::scatter, "binomial", scatter_binomial, "MPICH, scatter_intra_binomial.c",
              VectorCounts::at_every_rank},
    Algorithm{Collective::allgather, "ring", allgather_ring, thakur},
    Algorithm{Collective::allgather, "recursive_doubling", allgather_recursive_doubling,
              "Thakur, Rabenseifner, Gropp 2005; no power of two: MPICH, allgather_intra_recexch.c"},
    Algorithm{Collective::allgather, "bruck", allgather_bruck, bruck},
    Algorithm{
        Collective::allgather, "neighbour_exchange", allgather_neighbour_exchange,
        "Chen, Zhang, Zhang, Yuan: Performance evaluation of allgather algorithms on terascale Linux cluster with "
        "fast Ethernet, 2005; Open MPI, coll_base_allgather.c: neighborexchange"},
    Algorithm{Collective::alltoall, "linear", alltoall_linear, schedgen},
    Algorithm{Collective::alltoall, "pairwise", alltoall_pairwise, thakur},
    Algorithm{Collective::alltoall, "bruck", alltoall_bruck, bruck, VectorCounts::unsupported},
    Algorithm{Collective::reduce_scatter, "pairwise", reduce_scatter_pairwise, thakur},
    Algorithm{Collective::reduce_scatter, "ring", reduce_scatter_ring, "Open MPI, coll_base_reduce_scatter.c: ring"},
    Algorithm{Collective::reduce_scatter, "halving", reduce_scatter_halving,
              "Thakur, Rabenseifner, Gropp 2005; Open MPI, coll_base_reduce_scatter.c: basic_recursivehalving"},
    Algorithm{Collective::scan, "recursive_doubling", scan_recursive_doubling,
              "Open MPI, coll_base_scan.c: recursivedoubling; MPICH alike"},
    Algorithm{Collective::scan, "linear", scan_linear, "Open MPI, coll_basic_scan.c"},
    Algorithm{Collective::exscan, "recursive_doubling", exscan_recursive_doubling,
              "Open MPI, coll_base_exscan.c: recursivedoubling; MPICH alike"},
    Algorithm{Collective::exscan, "linear", exscan_linear, "Open MPI, coll_basic_exscan.c"},
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
    throw InputError("no algorithm for " + std::string(name_of(collective)) + " is called " + quote(name) +
                     "; there are " + names);
}

Collective collective(std::string_view name) {
    std::string names;
    for (std::size_t i = 0; i < collective_names.size(); ++i) {
        if (collective_names[i] == name) {
            return static_cast<Collective>(i);
        }
        names += (names.empty() ? "" : ", ") + std::string(collective_names[i]);
    }
    throw InputError("no collective is called " + quote(name) + "; there are " + names);
}

}  // namespace idlewave
