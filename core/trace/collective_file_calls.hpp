#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/rank_trace.hpp"

namespace idlewave::trace {

/// When the last rank entered each of the calls that all ranks of a file make together: what such a call takes after
/// that is the time of the file, and what it takes before is a wait for other ranks.
class CollectiveFileCalls {
  public:
    /// Reads the calls of files from the traces of all ranks.
    explicit CollectiveFileCalls(const Trace& trace);

    /// The time in ns of rank 0's clock at which the last rank entered the file's joint call with this number, from 0.
    [[nodiscard]] std::int64_t entered(std::uint64_t file, std::uint64_t number) const {
        return entered_.at(file)[static_cast<std::size_t>(number)];
    }

  private:
    std::unordered_map<std::uint64_t, std::vector<std::int64_t>> entered_;  ///< by file and number
};

/// Whether all ranks of a file make this call together.
inline bool is_collective_file_call(const TraceRecord& r) {
    return r.call == Call::file_open || r.call == Call::file_close || (r.call == Call::file && (r.info & 1) != 0);
}

}  // namespace idlewave::trace
