#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/rank_trace.hpp"

namespace idlewave::trace {

/// The CPU of a thread, and which thread had it before.
struct ThreadCpu {
    std::uint32_t cpu = 0;
    std::uint32_t before = 0;  ///< number of that thread; 0: none
};

/// The CPUs of a rank's threads, by number. A thread has a CPU from its first call to the end of its last one; the
/// first thread, which calls MPI_Init, has its own throughout. So a program that makes new threads again and again
/// needs as many CPUs as it has threads at a time.
[[nodiscard]] std::vector<ThreadCpu> cpus_of(std::span<const ThreadSpan> threads);

/// The threads after the first one, the one whose first call begins last first.
[[nodiscard]] std::vector<std::uint32_t> threads_by_begin(std::span<const ThreadSpan> threads);

}  // namespace idlewave::trace
