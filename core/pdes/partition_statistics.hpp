#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "pdes/communication_matrix.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/progress_series.hpp"
#include "pdes/statistics.hpp"

namespace idlewave::pdes {

/// What a partition counts.
struct PartitionStatistics {
    Statistics counts;
    ProgressSeries series;
    CommunicationMatrix communication;
    std::uint32_t restored_lps = 0;  ///< LPs taken from a snapshot
    std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

    /// `own`: LPs of the partition; `lps`: LPs of the run.
    PartitionStatistics(const PartitionOptions& options, std::uint32_t own, std::uint32_t lps)
        : communication(options.migrate_after > 0 ? own : 0, lps, options.counts_communication) {}

    /// Counts a round of GVT, and samples the counts if it is the series' turn.
    void sample(Time gvt, std::size_t log_bytes) {
        if (series.is_next()) {
            add_sample(gvt, log_bytes);
        }
    }
    void add_sample(Time gvt, std::size_t log_bytes) {
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun;
        series.add({since.count(), gvt, counts.committed, counts.rolled_back, log_bytes});
    }
};

}  // namespace idlewave::pdes
