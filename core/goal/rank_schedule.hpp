#pragma once

#include <vector>

#include "goal/labels.hpp"
#include "goal/op.hpp"

namespace idlewave::goal {

/// A dependency between two ops of a rank: `successor` may start only after `predecessor` has started or ended.
struct Requirement {
    OpIndex successor = 0;
    OpIndex predecessor = 0;
    Edge edge = Edge::end;
};

/// The schedule of one rank: its ops in order, and their requirements. Readers return it, and writers take it.
struct RankSchedule {
    std::vector<Op> ops;
    /// In any order. Ops that wait for the start (or the end) of the same op become ready in the order of their
    /// requirements.
    std::vector<Requirement> requirements;
    Labels labels;  ///< one for each op, or none at all

    void clear() {
        ops.clear();
        requirements.clear();
        labels.clear();
    }
};

}  // namespace idlewave::goal
