#include "machine/machine.hpp"

#include <algorithm>

namespace idlewave::machine {

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
    return least;
}

bool Machine::posts_take_cpu() const {
    const auto takes = [](const Level& level) {
        return std::ranges::any_of(level.segments, [](const Segment& segment) { return segment.parameters.o_p > 0; });
    };
    return takes(network) || (node && takes(*node));
}

}  // namespace idlewave::machine
