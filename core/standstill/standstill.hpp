#pragma once

#include <cstddef>
#include <utility>

#include "base/error.hpp"
#include "goal/source.hpp"
#include "standstill/left.hpp"
#include "standstill/near_miss.hpp"

namespace idlewave {

/// How many of the things that are left are named, and how many ops of a cycle.
inline constexpr std::size_t most_named = 65'536;

/// The error that `left` amounts to: what is left of all ranks of a schedule when nothing can happen any more. It says
/// the same whoever has simulated it. Looks at every op of the ranks that have not come to their end.
Standstill standstill(Left left, const ScheduleView& schedule);

/// The same for a source, which must live as long as this runs.
template <Source S>
Standstill standstill(Left left, const S& source) {
    return standstill(
        std::move(left),
        ScheduleView{
            .rank_schedule = [&source](std::uint32_t rank) { return source.rank_schedule(rank); },
            .name = [&source](std::uint32_t rank, OpIndex op_index) { return source.name(rank, op_index); },
        });
}

}  // namespace idlewave
