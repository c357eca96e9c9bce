#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/call_sites.hpp"
#include "trace/rank_trace.hpp"

namespace idlewave::trace {

/// A call site of a trace, with the sizes of its calls.
struct SiteOfTrace {
    CallSite site;
    std::int64_t least_bytes = 0;
    std::int64_t most_bytes = 0;
    std::uint32_t cycle_length = 1;  ///< of its computations (site_cycles.hpp); 1: there is no cycle
};

/// One computation: the time before a call.
struct ComputationRow {
    std::uint32_t rank = 0;
    std::uint32_t site = 0;      ///< in Computations::sites
    std::uint32_t position = 0;  ///< in the site's cycle, from 0
    std::int64_t ns = 0;
};

/// The computations of all ranks, by rank and in order.
struct Computations {
    std::vector<SiteOfTrace> sites;  ///< in the order of their first calls
    std::vector<ComputationRow> rows;
};

/// `wall`: with the waits for a core that were recorded in them.
Computations computations_of(std::span<const RankTrace> ranks, bool wall);

}  // namespace idlewave::trace
