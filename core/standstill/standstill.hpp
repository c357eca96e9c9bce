#pragma once

#include <cstddef>
#include <utility>

#include "base/error.hpp"
#include "goal/source.hpp"
#include "standstill/near_miss.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave::standstill {

/// The most unfinished things, and the most ops of a cycle, that the error names.
inline constexpr std::size_t most_named = 65'536;

/// The error for a simulation that ended with something unfinished: a deadlock, or messages or receives without a match
/// (docs/model.md, R20). It depends on the schedule and `unfinished` alone, so it is the same for every scheduler.
/// Reads every op of the unfinished ranks.
Standstill standstill(Unfinished unfinished, const ScheduleView& schedule);

/// The same for a source, which must live as long as this runs.
template <goal::Source S>
Standstill standstill(Unfinished unfinished, const S& source) {
    return standstill(
        std::move(unfinished),
        ScheduleView{
            .rank_schedule = [&source](std::uint32_t rank) { return source.rank_schedule(rank); },
            .name = [&source](std::uint32_t rank, goal::OpIndex op_index) { return source.name(rank, op_index); },
        });
}

}  // namespace idlewave::standstill
