#pragma once

#include <cstdint>
#include <ostream>

#include "goal/graph.hpp"
#include "goal/listing.hpp"

namespace idlewave {

/// GOAL text of one rank. Op number i has the label `l<i+1>`.
void write_rank(std::ostream& out, std::uint32_t rank, const Listing& listing);

/// GOAL text of a whole schedule: `num_ranks`, then every rank as `listing_of(rank)` gives it.
template <class ListingOf>
void write_goal(std::ostream& out, std::uint32_t ranks, ListingOf listing_of) {
    out << "num_ranks " << ranks << "\n";
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        write_rank(out, rank, listing_of(rank));
    }
}

/// One rank of a schedule in memory, written out.
Listing listing(const Graph& graph, std::uint32_t rank);

}  // namespace idlewave
