#include "trace/between_calls.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace idlewave::trace {

BetweenCalls::BetweenCalls(const RankTrace& trace, bool wall)
    : trace_(trace),
      wall_(wall),
      threads_(trace.threads().size(), {.left_mpi = trace.header().init_end}),
      cpus_(cpus_of(trace.threads())),
      threads_to_begin_(threads_by_begin(trace.threads())) {}

std::optional<std::int64_t> BetweenCalls::before(const TraceRecord& r) {
    begin_threads(r.thread == 0 ? r.end : trace_.threads()[r.thread].begin + 1);
    Thread& thread = threads_[r.thread];
    switch (r.call) {
        case Call::init:
            thread.left_mpi = std::max(thread.left_mpi, r.end);
            return std::nullopt;
        case Call::polls:
            exclude(thread, r.number(1));
            return std::nullopt;
        case Call::tracer:
            exclude(thread, r.end - r.begin);
            return std::nullopt;
        case Call::core_wait:
            exclude(thread, r.number(2));
            exclude(thread, wall_ ? 0 : r.number(0));
            return std::nullopt;
        case Call::finalize:
            join(thread);
            break;
        default:
            break;
    }
    const std::int64_t computed = r.begin - thread.left_mpi - std::exchange(thread.excluded, 0);
    thread.left_mpi = std::max(thread.left_mpi, r.end);
    return std::max<std::int64_t>(computed, 0);
}

/// The first call of a thread follows the last one that the first thread had ended before it began, and the last one of
/// the thread that had its CPU before.
void BetweenCalls::begin_threads(std::int64_t before) {
    while (!threads_to_begin_.empty() && trace_.threads()[threads_to_begin_.back()].begin < before) {
        const std::uint32_t number = threads_to_begin_.back();
        threads_to_begin_.pop_back();
        threads_[number].left_mpi = std::max(threads_[0].left_mpi, threads_[cpus_[number].before].left_mpi);
    }
}

/// MPI_Finalize follows the last call of all threads.
void BetweenCalls::join(Thread& thread) {
    begin_threads(std::numeric_limits<std::int64_t>::max());
    for (const Thread& other : threads_) {
        if (other.left_mpi > thread.left_mpi) {
            thread = other;
        }
    }
}

/// A number that cannot be a time is refused where the trace is converted.
void BetweenCalls::exclude(Thread& thread, std::int64_t ns) {
    thread.excluded = std::min(thread.excluded + std::clamp<std::int64_t>(ns, 0, latest), latest);
}

}  // namespace idlewave::trace
