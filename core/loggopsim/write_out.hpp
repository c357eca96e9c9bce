#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "goal/graph.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::loggopsim {

/// The most ops of a schedule that is written out into memory. A run of this many takes some ten gigabytes.
inline constexpr std::uint64_t most_ops_written_out = 100'000'000;

/// Writes a schedule that is generated on demand into memory: `rank_schedule_of(rank)` is the schedule of a rank. By
/// LogGOPSim's rules a rank reads ops of other ranks, so all of them must be in memory. Throws InputError if there are
/// more than `most_ops` ops.
template <class RankScheduleOf>
goal::Graph write_out(std::uint32_t ranks, RankScheduleOf rank_schedule_of,
                      std::uint64_t most_ops = most_ops_written_out) {
    goal::GraphBuilder builder;
    std::uint64_t ops = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const goal::RankSchedule rank_schedule = rank_schedule_of(rank);
        ops += rank_schedule.ops.size();
        if (ops > most_ops) {
            throw InputError("the loggopsim dialect writes a schedule out in memory, and this one has more than " +
                             std::to_string(most_ops) + " ops in its first " + std::to_string(rank + 1) +
                             " ranks: simulate fewer ranks");
        }
        builder.begin_rank();
        for (const goal::Op& op : rank_schedule.ops) {
            builder.add(op);
        }
        for (const goal::Requirement& r : rank_schedule.requirements) {
            builder.require(r.successor, r.predecessor, r.edge);
        }
    }
    return builder.finish();
}

}  // namespace idlewave::loggopsim
