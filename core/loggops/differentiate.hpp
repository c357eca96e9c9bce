#pragma once

#include <algorithm>

#include "base/error.hpp"
#include "loggops/shared_slopes.hpp"
#include "loggops/slopes.hpp"
#include "machine/machine.hpp"

namespace idlewave::loggops {

/// L and G times a factor that depends on when a message begins are rounded, and a parameter that grows moves messages
/// across steps of the factors: no whole number of times a parameter counts is its derivative. Throws InputError.
inline void refuse_variation(const machine::Machine& machine) {
    if (!machine.variation.empty()) {
        throw InputError(
            "expected a machine without a variation of L and G, for which there are no exact derivatives: "
            "leave out network.variation");
    }
}

/// Differentiates a simulation by the parameters of `machine`. `run(observer)` simulates with that observer, and its
/// result is returned. The first attempt shares slopes between ranks; if a run has too many different slopes for that,
/// the second attempt gives each moment its own. So does the only attempt for a machine without a lookahead. One-sided
/// operations share no slopes.
template <class Run>
auto differentiate(const machine::Machine& machine, Run run) {
    refuse_variation(machine);
    if (machine.lookahead(true) > 0) {
        try {
            SharedDifferentiation shared(std::ranges::any_of(
                machine::level_kinds, [&machine](machine::LevelKind kind) { return machine.sends_end_late(kind); }));
            return run(shared);
        } catch (const TooManySlopes&) {
            if (!machine.node && !machine.shared_buffer && !machine.one_sided) {
                if (machine.posts_take_cpu()) {
                    Differentiation<1> network;
                    return run(network);
                }
                Differentiation<1, false> network;
                return run(network);
            }
        }
    }
    FullDifferentiation levels;
    return run(levels);
}

}  // namespace idlewave::loggops
