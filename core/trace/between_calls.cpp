#include "trace/between_calls.hpp"

#include <algorithm>
#include <utility>

namespace idlewave::trace {

std::optional<std::int64_t> BetweenCalls::before(const TraceRecord& r) {
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
    if (r.thread == 0) {
        begin_later_threads(r.end);
    }
    return std::max<std::int64_t>(computed, 0);
}

/// The first call of a thread follows the last one that the first thread had ended before it began.
void BetweenCalls::begin_later_threads(std::int64_t now) {
    for (std::size_t number = 1; number < threads_.size(); ++number) {
        if (trace_.threads()[number].begin >= now) {
            threads_[number].left_mpi = now;
        }
    }
}

/// MPI_Finalize follows the last call of all threads.
void BetweenCalls::join(Thread& thread) const {
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
