#pragma once

#include <cstdint>

#include "collectives/parts.hpp"
#include "collectives/step.hpp"

namespace idlewave {

/// Around the ring: in round i every rank hands on what it received in the round before, at first its own part, which
/// is that of `own`.
inline Step around_the_ring(const CollectiveCall& call, StepNumber number, std::uint32_t own, const Parts& parts) {
    const std::uint32_t round = number / 2;
    if (round + 1 >= call.size) {
        return steps::done();
    }
    const auto in = [&] { return steps::Way{call.behind(1), parts[call.turned_back(own, round + 1)]}; };
    const auto out = [&] { return steps::Way{call.ahead(1), parts[call.turned_back(own, round)]}; };
    return steps::exchange(number, number % 2 != 0, in, out);
}

}  // namespace idlewave
