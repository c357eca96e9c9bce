#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/rank_trace.hpp"
#include "trace/thread_cpus.hpp"

namespace idlewave::trace {

/// The time between the calls of each thread of one rank that is computation: without what the tracer took, tests that
/// found nothing, and, unless `wall`, waits for a core.
class BetweenCalls {
  public:
    BetweenCalls(const RankTrace& trace, bool wall);

    /// The computation between the call before and this one, in ns, from 0 on; none if the record is no call that ends
    /// a computation.
    std::optional<std::int64_t> before(const TraceRecord& r);

  private:
    struct Thread {
        std::int64_t left_mpi = 0;  ///< the end of the last call, ns
        std::int64_t excluded = 0;  ///< time since then that is no computation
    };

    static void exclude(Thread& thread, std::int64_t ns);
    void begin_threads(std::int64_t before);
    void join(Thread& thread);

    const RankTrace& trace_;
    bool wall_;
    std::vector<Thread> threads_;
    std::vector<ThreadCpu> cpus_;                  ///< of these
    std::vector<std::uint32_t> threads_to_begin_;  ///< the one that begins next last
};

}  // namespace idlewave::trace
