#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/rank_trace.hpp"
#include "trace/thread_cpus.hpp"

namespace idlewave::trace {

/// Throws an InputError about a record of a rank, which is its call number `call`.
[[noreturn]] void refuse(const RankTrace& trace, std::uint64_t call, const TraceRecord& r, const std::string& what);

/// The time between the calls of each thread of one rank that is computation: without what the tracer took, tests that
/// found nothing, and, unless `wall`, waits for a core.
class BetweenCalls {
  public:
    BetweenCalls(const RankTrace& trace, bool wall);

    /// The computation between the call before and this one, in ns, from 0 on; none if the record is no call that ends
    /// a computation. All records of the rank are given, in order. One with a time that cannot be is refused.
    std::optional<std::int64_t> before(const TraceRecord& r);

    /// How many tests that found nothing were in the computation that `before` returned last.
    [[nodiscard]] std::uint64_t polls() const { return polls_; }

    /// The threads that have begun since the record before the last one. Their first call follows the last call of the
    /// first thread that had ended by then, and the last one of the thread that had the CPU before.
    [[nodiscard]] std::span<const std::uint32_t> begun() const { return begun_; }

    /// The next computation of the record's thread begins at the end of the record, or of the call before if that is
    /// later; `excluded` ns after this are no computation.
    void begin_again(const TraceRecord& r, std::int64_t excluded);

  private:
    struct Thread {
        std::int64_t left_mpi = 0;  ///< the end of the last call, ns
        std::int64_t excluded = 0;  ///< time since then that is no computation
        std::uint64_t polls = 0;    ///< since then
    };

    static void exclude(Thread& thread, std::int64_t ns);
    std::int64_t call(Thread& thread, const TraceRecord& r);
    void count_polls(Thread& thread, const TraceRecord& r) const;
    void core_wait(Thread& thread, const TraceRecord& r) const;
    void begin_threads(std::int64_t before);
    void join(Thread& thread) const;

    const RankTrace& trace_;
    bool wall_;
    std::uint64_t calls_ = 0;  ///< with the one at hand
    std::uint64_t polls_ = 0;
    std::vector<Thread> threads_;
    std::vector<ThreadCpu> cpus_;                  ///< of these
    std::vector<std::uint32_t> threads_to_begin_;  ///< the one that begins next last
    std::vector<std::uint32_t> begun_;
};

}  // namespace idlewave::trace
