#include <algorithm>
#include <map>

#include "extrapolation/recognition.hpp"

namespace idlewave::extrapolation {
namespace {

/// A shift by one rank; none of other rules.
std::optional<StraightShift> step_of(const PeerRule& rule) {
    const std::optional<StraightShift> shift = straight_shift(rule);
    return shift && (shift->distance == 1 || shift->distance == -1) ? shift : std::nullopt;
}

/// Finds the directions of the steps along dimensions of two ranks, where the next one and the one before are the same.
class CallDirections {
  public:
    explicit CallDirections(SymbolicProgram& program) : program_(program) {}

    bool find() {
        for (Item& item : program_.items) {
            const bool message = is_message(item.kind);
            if (message && item.role == Item::Role::none) {
                note(item);
                if (is_open_diagonal(program_.sites[item.site].peers.front())) {
                    return false;
                }
            }
        }
        return std::ranges::all_of(open_, [this](const auto& open) { return decide(open.first, open.second); });
    }

  private:
    using Calls = std::pair<Action::Kind, std::uint8_t>;  ///< and their dimension

    /// Whether a shift goes along several dimensions, and up and down are the same along one of them: no other message
    /// shows where it goes on more ranks.
    [[nodiscard]] bool is_open_diagonal(const PeerRule& rule) const {
        if (rule.kind != PeerRule::Kind::shift || straight_shift(rule)) {
            return false;
        }
        for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
            if (rule.periodic[d] && rule.shift[d] != 0 && program_.grid.extents[d] == 2) {
                return true;
            }
        }
        return false;
    }

    void note(Item& item) {
        const auto& peers = program_.sites[item.site].peers;
        const auto step = step_of(peers.front());
        if (!step) {
            return;
        }
        const auto other = peers.size() > 1 ? step_of(peers[1]) : std::nullopt;
        if (other && other->dimension == step->dimension && other->upwards() != step->upwards()) {
            open_[{item.kind, step->dimension}].push_back(&item);
        } else {
            known_[{item.kind, step->dimension}].push_back(step->upwards());
        }
    }

    /// The n-th call along the dimension goes where the n-th one goes along a dimension of more ranks.
    bool decide(const Calls& calls, const std::vector<Item*>& items) {
        // As many calls as along that dimension: else the grid may not be periodic along this one.
        const auto like = std::ranges::find_if(known_, [&](const auto& known) {
            return known.first.first == calls.first && known.second.size() == items.size();
        });
        if (like == known_.end()) {
            return false;
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            const bool upwards = like->second[i % like->second.size()];
            if (upwards != step_of(program_.sites[items[i]->site].peers.front())->upwards()) {
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
        const auto [known, is_new] = reversed_.try_emplace(site, static_cast<std::uint32_t>(program_.sites.size()));
        if (is_new) {
            Site reversed = program_.sites[site];
            std::swap(reversed.peers[0], reversed.peers[1]);
            program_.sites.push_back(std::move(reversed));
        }
        return known->second;
    }

    SymbolicProgram& program_;
    std::map<Calls, std::vector<bool>> known_;  ///< upwards or not, call by call
    std::map<Calls, std::vector<Item*>> open_;
    std::map<std::uint32_t, std::uint32_t> reversed_;  ///< sites
};

}  // namespace

bool find_directions(SymbolicProgram& program) {
    return CallDirections(program).find();
}

}  // namespace idlewave::extrapolation
