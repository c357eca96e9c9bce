#pragma once

#include "loggops/shared_slopes.hpp"
#include "loggops/slopes.hpp"
#include "machine/machine.hpp"

namespace idlewave {

/// Differentiates a simulation by the parameters of `machine`: what `run` gives, which simulates with the observer that
/// it is handed. It is called again if the first time shows that there are too many different slopes to share.
template <class Run>
auto differentiate(const Machine& machine, Run run) {
    try {
        SharedDifferentiation shared;
        return run(shared);
    } catch (const TooManySlopes&) {
        if (machine.node) {
            Differentiation<2> both_levels;
            return run(both_levels);
        }
        Differentiation<1> network;
        return run(network);
    }
}

}  // namespace idlewave
