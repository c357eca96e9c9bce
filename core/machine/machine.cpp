#include "machine/machine.hpp"

#include <algorithm>

namespace idlewave::machine {

namespace {

/// Whether a parameter is not 0 for messages of some size.
bool has(const Level& level, Time Parameters::* parameter) {
    return std::ranges::any_of(level.segments,
                               [parameter](const Segment& segment) { return segment.parameters.*parameter > 0; });
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

bool Machine::has_level(LevelKind kind) const {
    switch (kind) {
        case LevelKind::node:
            return node.has_value();
        case LevelKind::shared_buffer:
            return shared_buffer.has_value();
        case LevelKind::network:
            break;
    }
    return true;
}

bool Machine::posts_take_cpu() const {
    return std::ranges::any_of(
        level_kinds, [this](LevelKind kind) { return has_level(kind) && has(level(kind), &Parameters::o_p); });
}

bool Machine::sends_end_late(LevelKind kind) const {
    return has_level(kind) && has(level(kind), &Parameters::c);
}

}  // namespace idlewave::machine
