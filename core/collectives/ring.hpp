#pragma once

#include <cstdint>

#include "collectives/counts.hpp"
#include "collectives/step.hpp"

namespace idlewave::collectives {

/// Allgather around the ring: in round i every rank sends on the block that it received in the round before; in the
/// first round it sends its own block, which has the count of `own`.
inline Step around_the_ring(const CollectiveCall& call, StepNumber number, std::uint32_t own, const Counts& counts) {
    const std::uint32_t round = number / 2;
    if (round + 1 >= call.size) {
        return steps::done();
    }
    const auto in = [&] { return steps::Transfer{call.behind(1), counts[call.ring_backward(own, round + 1)]}; };
    const auto out = [&] { return steps::Transfer{call.ahead(1), counts[call.ring_backward(own, round)]}; };
    return steps::exchange(number, number % 2 != 0, in, out);
}

}  // namespace idlewave::collectives
