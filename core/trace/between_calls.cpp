#include "trace/between_calls.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace idlewave::trace {
namespace {

constexpr std::uint64_t most_polls = std::uint64_t{1} << 48;  // so that no sum wraps

}  // namespace

void refuse(const RankTrace& trace, std::uint64_t call, const TraceRecord& r, const std::string& what) {
    throw InputError(trace.name() + ": rank " + std::to_string(trace.header().rank) + ", call " + std::to_string(call) +
                     " of " + std::to_string(trace.calls()) + " (" + call_name(r.call) + ") " + what);
}

BetweenCalls::BetweenCalls(const RankTrace& trace, bool wall)
    : trace_(trace),
      wall_(wall),
      threads_(trace.threads().size(), {.left_mpi = trace.header().init_end}),
      cpus_(cpus_of(trace.threads())),
      threads_to_begin_(threads_by_begin(trace.threads())) {}

std::optional<std::int64_t> BetweenCalls::before(const TraceRecord& r) {
    calls_ += r.call == Call::core_wait ? 0 : 1;
    begun_.clear();
    begin_threads(r.thread == 0 ? r.end : trace_.threads()[r.thread].begin + 1);
    Thread& thread = threads_[r.thread];
    switch (r.call) {
        case Call::init:
            thread.left_mpi = std::max(thread.left_mpi, r.end);
            return std::nullopt;
        case Call::polls:
            count_polls(thread, r);
            return std::nullopt;
        case Call::tracer:
            exclude(thread, r.end - r.begin);
            return std::nullopt;
        case Call::core_wait:
            core_wait(thread, r);
            return std::nullopt;
        default:
            return call(thread, r);
    }
}

std::int64_t BetweenCalls::call(Thread& thread, const TraceRecord& r) {
    if (r.begin < thread.left_mpi) {
        refuse(trace_, calls_, r,
               "overlaps the call before it: expected the calls of a thread one after another (earlier tracers did not "
               "record which thread made a call)");
    }
    if (r.call == Call::finalize) {
        begin_threads(std::numeric_limits<std::int64_t>::max());
        join(thread);
    }
    const std::int64_t computed = r.begin - thread.left_mpi - std::exchange(thread.excluded, 0);
    polls_ = std::exchange(thread.polls, 0);
    thread.left_mpi = r.end;
    return std::max<std::int64_t>(computed, 0);
}

void BetweenCalls::count_polls(Thread& thread, const TraceRecord& r) const {
    if (r.number(1) < 0 || r.number(1) > r.end - r.begin) {
        refuse(trace_, calls_, r,
               "expected a time inside the calls from 0 to " + std::to_string(r.end - r.begin) + " ns, found " +
                   std::to_string(r.number(1)));
    }
    exclude(thread, r.number(1));
    thread.polls = std::min(thread.polls + std::min(r.words[0], most_polls), most_polls);
}

/// Waits for a core, which another process had, are no computation of the program; nor is the time that it took to read
/// them.
void BetweenCalls::core_wait(Thread& thread, const TraceRecord& r) const {
    for (const std::size_t word : {0, 1, 2}) {
        if (r.number(word) < 0 || r.number(word) > latest) {
            refuse(trace_, calls_, r,
                   "expected a time from 0 to 36 years, found " + std::to_string(r.number(word)) + " ns");
        }
    }
    exclude(thread, r.number(2));
    exclude(thread, wall_ ? 0 : r.number(0));
}

/// Begins the threads whose first call began before a time, which is no later than the end of the first thread's next
/// call. Computation is the time since the first thread's last call, and the last one of the thread that had the CPU
/// before.
void BetweenCalls::begin_threads(std::int64_t before) {
    while (!threads_to_begin_.empty() && trace_.threads()[threads_to_begin_.back()].begin < before) {
        const std::uint32_t number = threads_to_begin_.back();
        threads_to_begin_.pop_back();
        threads_[number].left_mpi = std::max(threads_.front().left_mpi, threads_[cpus_[number].before].left_mpi);
        begun_.push_back(number);
    }
}

/// MPI_Finalize follows the last calls of all threads. Computation before it is the time since the last one of these.
void BetweenCalls::join(Thread& thread) const {
    for (const Thread& other : threads_) {
        if (other.left_mpi > thread.left_mpi) {
            thread = other;
        }
    }
}

void BetweenCalls::begin_again(const TraceRecord& r, std::int64_t excluded) {
    Thread& thread = threads_[r.thread];
    thread.left_mpi = std::max(thread.left_mpi, r.end);
    thread.excluded = excluded;
}

void BetweenCalls::exclude(Thread& thread, std::int64_t ns) {
    thread.excluded = std::min(thread.excluded + ns, latest);
}

}  // namespace idlewave::trace
