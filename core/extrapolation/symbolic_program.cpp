#include "extrapolation/symbolic_program.hpp"

#include <array>
#include <bit>

#include "goal/op.hpp"
#include "goal/source.hpp"

namespace idlewave::extrapolation {

std::optional<std::uint32_t> Series::iterations_on(const ProcessGrid& grid) const {
    const std::uint32_t extent = grid.extents[dimension];
    switch (kind) {
        case Kind::none:
            return 1;
        case Kind::flip_ascending:
        case Kind::flip_descending:
            return std::has_single_bit(extent) ? std::optional<std::uint32_t>(std::countr_zero(extent)) : std::nullopt;
        case Kind::shift:
            return extent - 1;
        case Kind::other:
        case Kind::workers:
            return static_cast<std::uint32_t>(grid.ranks() - 1);
    }
    return std::nullopt;
}

PeerRule Series::peer(const PeerRule& rule, Item::Role role, std::uint32_t iteration, const ProcessGrid& grid) const {
    if (role == Item::Role::none) {
        return rule;
    }
    PeerRule result{.dimension = dimension};
    switch (kind) {
        case Kind::none:
            return rule;
        case Kind::flip_ascending:
            result.kind = PeerRule::Kind::flip;
            result.mask = std::uint32_t{1} << iteration;
            break;
        case Kind::flip_descending:
            result.kind = PeerRule::Kind::flip;
            result.mask = grid.extents[dimension] >> (iteration + 1);
            break;
        case Kind::shift: {
            const auto distance = static_cast<std::int32_t>(iteration + 1);
            result.kind = PeerRule::Kind::shift;
            result.dimension = 0;
            result.shift[dimension] = role == Item::Role::forward ? distance : -distance;
            result.periodic[dimension] = true;
            break;
        }
        case Kind::other:
        case Kind::workers:
            result.kind = kind == Kind::other ? PeerRule::Kind::other : PeerRule::Kind::worker;
            result.dimension = 0;
            result.number = iteration;
            break;
    }
    return result;
}

Walk::Walk(const SymbolicProgram& program, const ProcessGrid& grid)
    : program_(program),
      grid_(grid),
      first_of_(program.items.size()),
      posted_(program.items.size()),
      round_of_(program.items.size(), 0) {
    for (const Series& series : program.series) {
        const std::optional<std::uint32_t> iterations = series.iterations_on(grid);
        if (!iterations) {
            impossible_ = series.dimension;
        }
        iterations_.push_back(iterations.value_or(0));
        for (std::uint32_t i = 0; i < series.iterations * series.length; ++i) {
            first_of_[series.first + i] = series.first + i % series.length;
        }
    }
}

/// Fills in the call that the rank makes for an item; returns whether it makes one.
bool Walk::plan(std::uint32_t rank, std::uint32_t first_item, std::uint32_t number, PlannedCall& call) {
    const Item& item = program_.items[first_item];
    if (item.kind == Action::Kind::wait) {
        awaited_.clear();
        for (const std::uint32_t awaited : program_.awaited_by(item)) {
            const std::uint32_t first = first_of_[awaited];
            if (round_of_[first] == round_) {
                awaited_.insert(awaited_.end(), posted_[first].begin(), posted_[first].end());
                posted_[first].clear();
            }
        }
        std::ranges::sort(awaited_);
        call.awaited = awaited_;
        return !awaited_.empty();
    }
    if (item.kind != Action::Kind::collective) {
        const PeerRule& best = program_.sites[item.site].peers.front();
        call.rule = call.series->peer(best, item.role, call.iteration, grid_);
        if (call.rule.kind == PeerRule::Kind::any) {
            call.peer = goal::any;
        } else {
            const std::optional<std::uint32_t> peer = collectives::peer_of(call.rule, grid_, rank);
            if (!peer && !program_.uniform) {
                return false;
            }
            call.peer = peer.value_or(goal::no_rank);
        }
    }
    if (round_of_[first_item] != round_) {
        round_of_[first_item] = round_;
        posted_[first_item].clear();
    }
    posted_[first_item].push_back(number);
    return true;
}

std::optional<CommunicatorRule> communicator_rule(std::span<const std::uint32_t> members, const ProcessGrid& grid) {
    constexpr std::array<std::array<bool, 3>, 8> kinds{{{true, true, true},  // all ranks first, then one rank, …
                                                        {false, false, false},
                                                        {true, false, false},
                                                        {false, true, false},
                                                        {false, false, true},
                                                        {true, true, false},
                                                        {true, false, true},
                                                        {false, true, true}}};
    for (const auto& varies : kinds) {
        const CommunicatorRule rule{.varies = varies};
        if (rule.size(grid) != members.size()) {
            continue;
        }
        bool same = true;
        for (std::uint32_t i = 0; i < members.size() && same; ++i) {
            same = rule.member(grid, members[0], i) == members[i];
        }
        if (same) {
            return rule;
        }
    }
    return std::nullopt;
}

std::optional<StraightShift> straight_shift(const PeerRule& rule) {
    std::optional<StraightShift> found;
    for (std::uint8_t d = 0; d < ProcessGrid::dimensions && rule.kind == PeerRule::Kind::shift; ++d) {
        if (rule.shift[d] != 0) {
            if (found) {
                return std::nullopt;
            }
            found = {d, rule.shift[d]};
        }
    }
    return found;
}

std::string name_of(Action::Kind kind) {
    switch (kind) {
        case Action::Kind::send:
            return "send";
        case Action::Kind::synchronous_send:
            return "synchronous send";
        case Action::Kind::recv:
            return "receive";
        case Action::Kind::collective:
            return "collective";
        case Action::Kind::wait:
            return "wait";
    }
    return "";
}

std::string text_of(const PeerRule& rule) {
    switch (rule.kind) {
        case PeerRule::Kind::any:
            return "any rank";
        case PeerRule::Kind::fixed:
            return "rank " + std::to_string(rule.number);
        case PeerRule::Kind::shift: {
            std::string text = "(";
            for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
                text += (d > 0 ? ", " : "") + std::string(rule.shift[d] > 0 ? "+" : "") + std::to_string(rule.shift[d]);
            }
            return text + ")";
        }
        case PeerRule::Kind::flip:
            return "coordinate " + std::to_string(rule.dimension) + " xor " + std::to_string(rule.mask);
        case PeerRule::Kind::transpose:
            return "the transposed place";
        case PeerRule::Kind::parent:
            return "the parent of a binary tree";
        case PeerRule::Kind::left_child:
            return "the left child of a binary tree";
        case PeerRule::Kind::right_child:
            return "the right child of a binary tree";
        case PeerRule::Kind::other:
            return "other rank " + std::to_string(rule.number);
        case PeerRule::Kind::worker:
            return "worker " + std::to_string(rule.number);
    }
    return "";
}

}  // namespace idlewave::extrapolation
