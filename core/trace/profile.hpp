#pragma once

#include <cstdint>
#include <vector>

#include "trace/rank_trace.hpp"

namespace idlewave::trace {

/// One call of a traced run, as a row of a table.
struct CallRow {
    std::uint32_t rank = 0;
    std::uint32_t thread = 0;
    Call call = Call::end_of_file;
    CallGroup group = CallGroup::other;
    std::int64_t begin = 0;  ///< ns since the first rank left MPI_Init, on rank 0's clock
    std::int64_t end = 0;
    std::int64_t inside = 0;  ///< ns inside MPI; of a series of polls less than end − begin
    std::int64_t peer = -1;   ///< world rank of a message's destination; −1: none
    std::int64_t bytes = 0;   ///< bytes that the rank sent; of a collective its own contribution
};

/// All calls between MPI_Init and MPI_Finalize, by rank and in order. MPI_Cart_create is left out, as the communicator
/// that it makes has a record, too.
std::vector<CallRow> call_rows(const Trace& trace);

}  // namespace idlewave::trace
