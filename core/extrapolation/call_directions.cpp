#include <algorithm>
#include <array>
#include <map>

#include "extrapolation/recognition.hpp"

namespace idlewave::extrapolation {
namespace {

/// Along which dimension a shift by one rank goes, and whether upwards; none of other rules.
std::optional<std::pair<std::uint8_t, bool>> step_of(const PeerRule& rule) {
    const auto moves = std::ranges::count_if(rule.shift, [](std::int32_t s) { return s != 0; });
    const auto along = std::ranges::find_if(rule.shift, [](std::int32_t s) { return s != 0; });
    if (rule.kind != PeerRule::Kind::shift || moves != 1 || (*along != 1 && *along != -1)) {
        return std::nullopt;
    }
    return std::pair(static_cast<std::uint8_t>(along - rule.shift.begin()), *along > 0);
}

/// Finds the directions of the steps along dimensions of two ranks, where the next one and the one before are the same.
class CallDirections {
  public:
    explicit CallDirections(SymbolicProgram& program) : program_(program) {}

    bool find() {
        for (Item& item : program_.items) {
            const bool message = item.kind == Action::Kind::send || item.kind == Action::Kind::recv;
            if (message && item.role == Item::Role::none) {
                note(item);
            }
        }
        return std::ranges::all_of(open_, [this](const auto& open) { return turn(open.first, open.second); });
    }

  private:
    using Calls = std::pair<Action::Kind, std::uint8_t>;  ///< and their dimension

    void note(Item& item) {
        const auto& peers = program_.sites[item.site].peers;
        const auto step = step_of(peers.front());
        if (!step) {
            return;
        }
        if (peers.size() > 1 && step_of(peers[1]) == std::pair(step->first, !step->second)) {
            open_[{item.kind, step->first}].push_back(&item);
        } else {
            known_[{item.kind, step->first}].push_back(step->second);
        }
    }

    /// The n-th call along the dimension goes where the n-th one goes along a dimension of more ranks.
    bool turn(const Calls& calls, const std::vector<Item*>& items) {
        // As many calls as along that dimension: else the grid may not be periodic along this one.
        const auto like = std::ranges::find_if(known_, [&](const auto& known) {
            return known.first.first == calls.first && known.second.size() == items.size();
        });
        if (like == known_.end()) {
            return false;
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            const bool upwards = like->second[i % like->second.size()];
            if (upwards != step_of(program_.sites[items[i]->site].peers.front())->second) {
                items[i]->site = other_direction(items[i]->site);
            }
        }
        auto& dimensions = program_.one_sided_dimensions;
        if (std::ranges::find(dimensions, calls.second) == dimensions.end()) {
            dimensions.push_back(calls.second);
        }
        return true;
    }

    std::uint32_t other_direction(std::uint32_t site) {
        const auto [known, is_new] = turned_.try_emplace(site, static_cast<std::uint32_t>(program_.sites.size()));
        if (is_new) {
            Site turned = program_.sites[site];
            std::swap(turned.peers[0], turned.peers[1]);
            program_.sites.push_back(std::move(turned));
        }
        return known->second;
    }

    SymbolicProgram& program_;
    std::map<Calls, std::vector<bool>> known_;  ///< upwards or not, call by call
    std::map<Calls, std::vector<Item*>> open_;
    std::map<std::uint32_t, std::uint32_t> turned_;  ///< sites
};

}  // namespace

bool find_directions(SymbolicProgram& program) {
    return CallDirections(program).find();
}

}  // namespace idlewave::extrapolation
