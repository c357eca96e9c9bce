#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace idlewave::pdes {

/// What a partition counted. Events that a model counts (Worker::counted) are those that it handled.
struct Statistics {
    std::uint64_t committed = 0;            ///< events that are handled for good
    std::uint64_t rolled_back = 0;          ///< events that were handled, and then undone
    std::uint64_t primary_rollbacks = 0;    ///< of an LP, for something told late
    std::uint64_t secondary_rollbacks = 0;  ///< of an LP, for something taken back
    std::uint64_t taken_back = 0;           ///< events that were sent, and are not to be
    std::uint64_t sent_again = 0;           ///< events that were sent, and after a rollback the same once more
    std::uint64_t told_elsewhere = 0;       ///< events, and what takes them back, for another partition
    std::uint64_t mails = 0;                ///< in so many pieces
    std::uint64_t gvt_rounds = 0;
    std::uint64_t ties = 0;       ///< events that an LP was told for the time of another, rolled back or not
    std::uint64_t log_bytes = 0;  ///< the most memory that visits took until they were committed

    /// Of all partitions; rounds of GVT are the same ones for all.
    Statistics& operator+=(const Statistics& other) {
        committed += other.committed;
        rolled_back += other.rolled_back;
        primary_rollbacks += other.primary_rollbacks;
        secondary_rollbacks += other.secondary_rollbacks;
        taken_back += other.taken_back;
        sent_again += other.sent_again;
        told_elsewhere += other.told_elsewhere;
        mails += other.mails;
        gvt_rounds = other.gvt_rounds;
        ties += other.ties;
        log_bytes += other.log_bytes;
        return *this;
    }

    /// What a later leg of the run counted.
    void go_on(const Statistics& leg) {
        const std::uint64_t rounds = gvt_rounds;
        const std::uint64_t log = log_bytes;
        *this += leg;
        gvt_rounds = rounds + leg.gvt_rounds;
        log_bytes = std::max(log, leg.log_bytes);
    }

    /// All that adds up over the processes of a run.
    [[nodiscard]] std::array<std::uint64_t*, 10> sums() {
        return {&committed,  &rolled_back, &primary_rollbacks, &secondary_rollbacks,
                &taken_back, &sent_again,  &told_elsewhere,    &mails,
                &ties,       &log_bytes};
    }

    /// As ROSS defines it (tw_net_stats): 1 less the events rolled back for one that was not.
    [[nodiscard]] double efficiency() const {
        return committed == 0 ? 1 : 1 - static_cast<double>(rolled_back) / static_cast<double>(committed);
    }
};

}  // namespace idlewave::pdes
