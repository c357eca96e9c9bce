#pragma once

#include <cstdint>
#include <vector>

#include "trace/convert.hpp"
#include "trace/rank_trace.hpp"

namespace idlewave::trace {

/// How many records of each rank, without waits for a core, come before a point. Throws an InputError that names a rank
/// which does not come to it.
std::vector<std::uint64_t> records_before(const Trace& trace, const TracePoint& point);

/// When the rank has ended so many records, on rank 0's clock, ns; of no record it is the end of MPI_Init.
std::int64_t time_after(const RankTrace& rank, std::uint64_t records);

}  // namespace idlewave::trace
