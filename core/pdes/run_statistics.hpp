#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pdes/exchange.hpp"
#include "pdes/progress_series.hpp"
#include "pdes/statistics.hpp"
#include "pdes/transport.h"

namespace idlewave::pdes {

/// What the partitions of this process counted, and the time that the run took.
struct RunStatistics {
    Statistics counts;
    Statistics before_restart;  ///< counts of all processes up to the checkpoint with which the run began
    std::vector<ProgressSample> series;
    std::string_view time_unit;  ///< the model's, of `gvt` in the series
    std::uint64_t segments = 1;  ///< one more than the pauses for a checkpoint or for migration
    double init_seconds = 0;     ///< to make the LPs and their first events
    double seconds = 0;          ///< from then to the end
};

/// Sums the counts over all processes and adds those from before the restart, in each process; `transport`: null if
/// there is one process. Throws TransportError.
inline void sum_over_processes(RunStatistics& run, const idlewave_transport* transport) {
    sum_over_processes(run.counts, transport);
    Statistics all = run.before_restart;
    all.add_segment(run.counts);
    run.counts = all;
    std::vector<std::uint64_t> sums;
    for (const ProgressSample& sample : run.series) {
        sums.insert(sums.end(), {sample.committed, sample.rolled_back, sample.log_bytes});
    }
    sum_over_processes(sums, transport);
    for (std::size_t i = 0; i < run.series.size(); ++i) {
        ProgressSample& sample = run.series[i];
        sample.committed = sums[3 * i] + run.before_restart.committed;
        sample.rolled_back = sums[3 * i + 1] + run.before_restart.rolled_back;
        sample.log_bytes = sums[3 * i + 2];
    }
}

}  // namespace idlewave::pdes
