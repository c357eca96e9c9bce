#include "collectives/algorithms.hpp"

#include <array>
#include <string>

#include "base/error.hpp"
#include "base/quote.hpp"

namespace idlewave::collectives {
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
constexpr std::string_view release_gather = "MPICH, src/mpid/ch4/shm/posix/posix_coll_release_gather.h";
constexpr std::string_view schedgen = "as LogGOPSim's schedule generator has it";

constexpr std::array all{
#define IDLEWAVE_ALGORITHM(collective, name, ...) \
    Algorithm{Collective::collective, #name, collective##_##name, __VA_ARGS__},
#include "collectives/algorithm_table.hpp"
#undef IDLEWAVE_ALGORITHM
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

}  // namespace idlewave::collectives
