#pragma once

#include <cstdint>

#include "collectives/parts.hpp"
#include "collectives/step.hpp"

namespace idlewave {

/// Around the ring: in round i every rank hands on what it received in the round before, at first its own part, which
/// is that of `own`.
inline Step around_the_ring(const CollectiveCall& call, StepNumber number, std::uint32_t own, const Parts& parts) {
    const std::uint32_t round = static_cast<std::uint32_t>(number) / 3;
    if (round + 1 >= call.size) {
        return steps::done();
    }
    switch (static_cast<std::uint32_t>(number) % 3) {
        case 0:
            return steps::recv(number, call.behind(1), parts[call.turned_back(own, round + 1)]);
        case 1:
            return steps::send(number, call.ahead(1), parts[call.turned_back(own, round)]);
        default:
            return steps::join(number);
    }
}

}  // namespace idlewave
