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

/// As many CPUs as a rank of a schedule can have.
constexpr std::uint32_t most_cpus = 256;

/// The CPUs of a rank's threads, by number. Each thread has its own. Where there are more threads than CPUs, as in a
/// program that makes new threads again and again, a later one has the CPU of a thread whose last call had ended before
/// its first one began; without such a thread its number is `most_cpus` or more.
[[nodiscard]] std::vector<ThreadCpu> cpus_of(std::span<const ThreadSpan> threads);

/// The threads after the first one, the one whose first call begins last first.
[[nodiscard]] std::vector<std::uint32_t> threads_by_begin(std::span<const ThreadSpan> threads);

}  // namespace idlewave::trace
