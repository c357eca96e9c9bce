#pragma once

#include <cstdint>
#include <vector>

#include "trace/convert.hpp"
#include "trace/rank_trace.hpp"

namespace idlewave::trace {

/// Where a rank is after some of its records: `records` counts from 1 on, without waits for a core.
struct RankPoint {
    std::uint64_t records = 0;
    std::int64_t at = 0;  ///< the end of the last of them, on rank 0's clock, ns; of none of them the end of MPI_Init
};

/// How many records of each rank come before a point. Throws an InputError that names a rank which does not come to it.
std::vector<std::uint64_t> records_before(const Trace& trace, const TracePoint& point);

/// Where the rank is after that many records.
RankPoint point_after(const RankTrace& rank, std::uint64_t records);

}  // namespace idlewave::trace
