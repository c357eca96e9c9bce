#pragma once

#include <cstdint>

#include "goal/op.hpp"

namespace idlewave::loggops {

/// An op that has started: its index in the schedule, and the CPU and NIC that it uses.
template <class Cookie>
struct StartedOp {
    goal::OpIndex op_index = 0;
    [[no_unique_address]] Cookie cookie = {};
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    bool end_has_successors = true;  ///< as in goal::Op
};

/// An op that has ended, and when.
template <class Cookie, class Moment>
struct EndedOp {
    goal::OpIndex op_index = 0;
    [[no_unique_address]] Cookie cookie = {};
    bool has_successors = true;  ///< false if no other op waits for the end
    Moment at = {};
};

}  // namespace idlewave::loggops
