#pragma once

#include <cstdint>
#include <vector>

#include "pdes/exchange.hpp"
#include "pdes/series.hpp"
#include "pdes/statistics.hpp"
#include "pdes/wire.h"

namespace idlewave::pdes {

/// What the partitions of this process counted, and how long it took: to make the LPs and their first events, and from
/// there to the end.
struct Counted {
    Statistics statistics;
    Statistics before;  ///< until the checkpoint with which the run began, by all processes
    std::vector<Sample> series;
    std::uint64_t legs = 1;  ///< how often LPs were placed: one more than there were pauses
    double init_seconds = 0;
    double seconds = 0;
};

/// What all processes counted, in each, with what was counted before; `wire`: null if there is one process. Throws
/// TransportError.
inline void add_up(Counted& counted, const idlewave_wire* wire) {
    add_up(counted.statistics, wire);
    Statistics all = counted.before;
    all.go_on(counted.statistics);
    counted.statistics = all;
    std::vector<std::uint64_t> sums;
    for (const Sample& sample : counted.series) {
        sums.insert(sums.end(), {sample.committed, sample.rolled_back, sample.log_bytes});
    }
    add_up(sums, wire);
    for (std::size_t i = 0; i < counted.series.size(); ++i) {
        Sample& sample = counted.series[i];
        sample.committed = sums[3 * i] + counted.before.committed;
        sample.rolled_back = sums[3 * i + 1] + counted.before.rolled_back;
        sample.log_bytes = sums[3 * i + 2];
    }
}

}  // namespace idlewave::pdes
