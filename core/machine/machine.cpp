#include "machine/machine.hpp"

#include <algorithm>

namespace idlewave::machine {

namespace {

/// Whether a cost is not 0 for messages of some size.
bool has_cost(const Machine& machine, Time Parameters::* cost) {
    const auto has = [cost](const Level& level) {
        return std::ranges::any_of(level.segments,
                                   [cost](const Segment& segment) { return segment.parameters.*cost > 0; });
    };
    return has(machine.network) || (machine.node && has(*machine.node)) ||
           (machine.shared_buffer && has(*machine.shared_buffer));
}

}  // namespace

Time Machine::lookahead() const {
    Time least = never;
    const auto consider = [&least](const Level& level) {
        for (const Segment& segment : level.segments) {
            least = std::min(least, later(segment.parameters.o_s, segment.parameters.L));
        }
    };
    consider(network);
    if (node) {
        consider(*node);
    }
    if (shared_buffer) {
        consider(*shared_buffer);
    }
    return least;
}

bool Machine::posts_take_cpu() const {
    return has_cost(*this, &Parameters::o_p);
}

bool Machine::sends_end_late() const {
    return has_cost(*this, &Parameters::c);
}

}  // namespace idlewave::machine
