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

}  // namespace idlewave::machine
