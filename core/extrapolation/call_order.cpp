#include "extrapolation/call_order.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace idlewave::extrapolation {

CallOrder::CallOrder(SymbolicProgram& program, std::vector<Item> items,
                     const std::vector<std::vector<std::uint32_t>>& sequences)
    : program_(program),
      items_(std::move(items)),
      sequences_(sequences),
      first_ranks_(items_.size()),
      sides_(items_.size()) {
    for (std::uint32_t rank = static_cast<std::uint32_t>(sequences.size()); rank-- > 0;) {
        for (const std::uint32_t item : sequences[rank]) {
            first_ranks_[item] = rank;
        }
    }
}

bool CallOrder::find() {
    note_sides();
    learn();
    std::vector<std::vector<std::uint32_t>> next(items_.size());
    std::vector<std::uint32_t> left(items_.size(), 0);  // calls before it that are not in the order yet
    for (const std::vector<std::uint32_t>& sequence : sequences_) {
        for (std::size_t i = 1; i < sequence.size(); ++i) {
            std::vector<std::uint32_t>& known = next[sequence[i - 1]];
            if (std::ranges::find(known, sequence[i]) == known.end()) {
                known.push_back(sequence[i]);
                ++left[sequence[i]];
            }
        }
    }
    std::vector<std::uint32_t> possible;
    for (std::uint32_t item = 0; item < items_.size(); ++item) {
        if (left[item] == 0) {
            possible.push_back(item);
        }
    }
    std::vector<std::uint32_t> order;
    while (!possible.empty()) {
        const auto first =
            std::ranges::min_element(possible, [this](std::uint32_t a, std::uint32_t b) { return before(a, b); });
        const std::uint32_t item = *first;
        possible.erase(first);
        order.push_back(item);
        for (const std::uint32_t follows : next[item]) {
            if (--left[follows] == 0) {
                possible.push_back(follows);
            }
        }
    }
    if (order.size() != items_.size()) {
        return false;
    }
    store(order);
    return true;
}

void CallOrder::note_sides() {
    std::vector<std::uint32_t> occurrences(program_.sites.size(), 0);
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const Item& item = items_[i];
        if (!is_message(item.kind)) {
            continue;
        }
        if (const auto shift = straight_shift(program_.sites[item.site].peers.front())) {
            const int call = (item.kind == Action::Kind::recv ? 2 : 0) + (shift->upwards() ? upwards : 0);
            sides_[i] = {shift->dimension, static_cast<std::uint8_t>(call), occurrences[item.site]++};
        }
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].kind == Action::Kind::wait) {
            const std::optional<Side>& awaited = sides_[program_.awaited[items_[i].awaited_begin]];
            if (awaited) {
                sides_[i] = {awaited->dimension, static_cast<std::uint8_t>(awaited->call + 4), awaited->occurrence};
            }
        }
    }
}

/// From the ranks that have neighbours on both sides: in which order they make their first calls along a dimension.
void CallOrder::learn() {
    std::set<std::uint8_t> used;
    std::set<std::uint8_t> seen;
    for (const std::vector<std::uint32_t>& sequence : sequences_) {
        std::array<std::array<std::ptrdiff_t, calls>, ProcessGrid::dimensions> first{};
        for (std::size_t i = sequence.size(); i-- > 0;) {
            if (const std::optional<Side>& side = sides_[sequence[i]]) {
                first[side->dimension][side->call] = static_cast<std::ptrdiff_t>(i) + 1;
                used.insert(side->dimension);
            }
        }
        for (std::uint8_t d = 0; d < ProcessGrid::dimensions; ++d) {
            const auto has = [&](std::uint8_t side) { return first[d][side] != 0 || first[d][side + 2] != 0; };
            if (!has(0) || !has(upwards)) {
                continue;
            }
            seen.insert(d);
            for (std::size_t a = 0; a < calls; ++a) {
                for (std::size_t b = 0; b < calls; ++b) {
                    if (a % 2 != b % 2 && first[d][a] != 0 && first[d][b] != 0 && learned_[a][b] == 0) {
                        learned_[a][b] = first[d][a] < first[d][b] ? 1 : -1;
                        learned_[b][a] = -learned_[a][b];
                    }
                }
            }
        }
    }
    for (const Site& site : program_.sites) {  // diagonal ones have no sides
        for (std::uint8_t d = 0; d < ProcessGrid::dimensions && !site.peers.empty(); ++d) {
            if (site.peers.front().shift[d] != 0 && program_.grid.extents[d] < 3) {
                used.insert(d);
            }
        }
    }
    std::ranges::set_difference(used, seen, std::back_inserter(program_.one_sided_dimensions));
}

/// Which of two calls comes first that no order of a rank decides.
bool CallOrder::before(std::uint32_t a, std::uint32_t b) const {
    const std::optional<Side>& first = sides_[a];
    const std::optional<Side>& second = sides_[b];
    if (first && second) {
        if (first->dimension != second->dimension) {
            return first->dimension < second->dimension;
        }
        if (first->occurrence != second->occurrence) {
            return first->occurrence < second->occurrence;
        }
        if (const int learned = learned_[first->call][second->call]; learned != 0) {
            return learned > 0;
        }
    }
    if ((!first || !second) && first_ranks_[a] != first_ranks_[b]) {
        return first_ranks_[a] < first_ranks_[b];
    }
    const bool waits = items_[a].kind == Action::Kind::wait;
    if (waits != (items_[b].kind == Action::Kind::wait)) {
        return !waits;
    }
    if (first && second && first->call % 2 != second->call % 2) {
        return first->call % 2 < second->call % 2;
    }
    return a < b;
}

void CallOrder::store(const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> position(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        position[order[i]] = i;
        program_.items.push_back(items_[order[i]]);
    }
    for (std::uint32_t& awaited : program_.awaited) {
        awaited = position[awaited];
    }
}

}  // namespace idlewave::extrapolation
