#pragma once

#include <vector>

#include "goal/op.hpp"

namespace idlewave {

/// A requirement of one op on another of its rank.
struct Requirement {
    Place waiting = 0;
    Place other = 0;
    Edge edge = Edge::end;
};

/// One rank's part of a schedule, written out: its ops in order, and their requirements.
struct Listing {
    std::vector<Op> ops;
    std::vector<Requirement> requirements;  ///< ascending by `waiting`
};

}  // namespace idlewave
