#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace idlewave::pdes {

/// Counts of a partition, or of all partitions of a run. A model's worker counts the events that it executes.
struct Statistics {
    std::uint64_t committed = 0;            ///< events executed that cannot be rolled back any more
    std::uint64_t rolled_back = 0;          ///< events executed and rolled back
    std::uint64_t primary_rollbacks = 0;    ///< rollbacks of an LP by a straggler
    std::uint64_t secondary_rollbacks = 0;  ///< rollbacks of an LP by an anti-message
    std::uint64_t cancelled = 0;            ///< anti-messages sent
    std::uint64_t resent = 0;           ///< events that were sent again unchanged after a rollback (lazy cancellation)
    std::uint64_t remote_events = 0;    ///< events and anti-messages sent to another partition
    std::uint64_t message_batches = 0;  ///< batches in which these travelled
    std::uint64_t gvt_rounds = 0;
    std::uint64_t ties = 0;       ///< events that an LP received for the same time as another event, rolled back or not
    std::uint64_t log_bytes = 0;  ///< largest memory of the undo logs
    std::uint64_t by_one_thread = 0;  ///< events that one thread executed for all of its process (ThreadChoice)

    /// Adds the counts of another partition. All partitions take part in the same rounds of GVT.
    Statistics& operator+=(const Statistics& other) {
        committed += other.committed;
        rolled_back += other.rolled_back;
        primary_rollbacks += other.primary_rollbacks;
        secondary_rollbacks += other.secondary_rollbacks;
        cancelled += other.cancelled;
        resent += other.resent;
        remote_events += other.remote_events;
        message_batches += other.message_batches;
        gvt_rounds = other.gvt_rounds;
        ties += other.ties;
        log_bytes += other.log_bytes;
        by_one_thread += other.by_one_thread;
        return *this;
    }

    /// Adds the counts of a later segment of the same run.
    void add_segment(const Statistics& segment) {
        const std::uint64_t rounds = gvt_rounds;
        const std::uint64_t log = log_bytes;
        *this += segment;
        gvt_rounds = rounds + segment.gvt_rounds;
        log_bytes = std::max(log, segment.log_bytes);
    }

    /// The counts that are summed over the processes of a run.
    [[nodiscard]] std::array<std::uint64_t*, 11> sums() {
        return {&committed, &rolled_back, &primary_rollbacks, &secondary_rollbacks,
                &cancelled, &resent,      &remote_events,     &message_batches,
                &ties,      &log_bytes,   &by_one_thread};
    }

    /// ROSS's event efficiency (tw_net_stats): 1 - rolled back / committed.
    [[nodiscard]] double efficiency() const {
        return committed == 0 ? 1 : 1 - static_cast<double>(rolled_back) / static_cast<double>(committed);
    }
};

}  // namespace idlewave::pdes
