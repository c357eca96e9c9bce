#pragma once

#include <cstdint>

#include "goal/goal_reader.hpp"
#include "goal/goal_writer.hpp"
#include "goal/graph.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::testing {

/// The schedule of a composition or of a program as a graph, by way of its GOAL text.
template <class S>
goal::Graph written_out(const S& source) {
    const auto list = [&source](std::uint32_t rank, goal::RankSchedule& rank_schedule) {
        rank_schedule = source.rank_schedule(rank);
    };
    return goal::read_goal(goal::goal_text(source.ranks(), list), "written");
}

}  // namespace idlewave::testing
