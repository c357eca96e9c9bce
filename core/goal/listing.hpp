#pragma once

#include <vector>

#include "goal/labels.hpp"
#include "goal/op.hpp"

namespace idlewave {

/// A requirement of one op on another of its rank.
struct Requirement {
    Place waiting = 0;
    Place other = 0;
    Edge edge = Edge::end;
};

/// One rank's part of a schedule, written out: its ops in order, and their requirements. What readers give, and
/// writers take.
struct Listing {
    std::vector<Op> ops;
    /// In any order; but those that wait for the same op's start, or for its end, become ready in the order in which
    /// they stand here.
    std::vector<Requirement> requirements;
    Labels labels;  ///< as many as ops, or none at all

    void clear() {
        ops.clear();
        requirements.clear();
        labels.clear();
    }
};

}  // namespace idlewave
