#include "machine/machine.hpp"

#include <algorithm>

namespace idlewave::machine {

namespace {

bool posts_take_cpu(const Level& level) {
    return std::ranges::any_of(level.segments, [](const Segment& segment) { return segment.parameters.o_p > 0; });
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
    return machine::posts_take_cpu(network) || (node && machine::posts_take_cpu(*node)) ||
           (shared_buffer && machine::posts_take_cpu(*shared_buffer));
}

}  // namespace idlewave::machine
