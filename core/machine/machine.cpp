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

Time Machine::lookahead(bool with_one_sided) const {
    Time least = never;
    for (const LevelKind kind : level_kinds) {
        if (!has_level(kind) || (kind == LevelKind::one_sided && !with_one_sided)) {
            continue;
        }
        const bool acknowledges = with_one_sided && kind != LevelKind::shared_buffer &&
                                  (kind == LevelKind::one_sided || !one_sided.has_value());
        for (const Segment& segment : level(kind).segments) {
            const Time overhead = acknowledges ? 0 : segment.parameters.o_s;
            const Time L = scaled(segment.parameters.L, varies(kind) ? variation.least_L() : 1);
            least = std::min(least, later(overhead, L));
        }
    }
    return least;
}

bool Machine::has_level(LevelKind kind) const {
    switch (kind) {
        case LevelKind::node:
            return node.has_value();
        case LevelKind::shared_buffer:
            return shared_buffer.has_value();
        case LevelKind::one_sided:
            return one_sided.has_value();
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
