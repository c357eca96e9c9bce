#include "machine/machine.hpp"

#include <algorithm>

namespace idlewave::machine {

namespace {

/// Whether a parameter is not 0 for messages of some size, on some level.
bool has(const Machine& machine, Time Parameters::* parameter) {
    const auto of_level = [parameter](const Level& level) {
        return std::ranges::any_of(level.segments,
                                   [parameter](const Segment& segment) { return segment.parameters.*parameter > 0; });
    };
    return of_level(machine.network) || (machine.node && of_level(*machine.node)) ||
           (machine.shared_buffer && of_level(*machine.shared_buffer));
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
    return has(*this, &Parameters::o_p);
}

bool Machine::sends_end_late() const {
    return has(*this, &Parameters::c);
}

}  // namespace idlewave::machine
