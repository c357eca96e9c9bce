#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "extrapolation/call_order.hpp"
#include "extrapolation/recognition.hpp"
#include "goal/op.hpp"

namespace idlewave::extrapolation {
namespace {

/// Recognises a program of which a rank leaves out the messages with neighbours that it has not. The n-th message of a
/// kind to a neighbour is the n-th one of all ranks that have such a neighbour; so the sequences of the ranks are put
/// together to one of all calls.
class NeighbourRecognition {
  public:
    NeighbourRecognition(const RunOnGrid& run, const NeighbourKind& kind, Refusal& why)
        : run_(run), kind_(kind), why_(why), items_of_(run.run().ranks()) {
        program_.grid = run.grid();
    }

    std::optional<SymbolicProgram> recognise() {
        for (std::uint32_t rank = 0; rank < run_.run().ranks(); ++rank) {
            if (!number_calls(rank)) {
                return std::nullopt;
            }
        }
        if (!all_neighbours_have_all() || !sides_are_clear() || !join_waits()) {
            return std::nullopt;
        }
        CallOrder order(program_, std::move(numbered_), items_of_);
        if (!order.find()) {
            why_.what = "ranks make the same calls in different orders";
            return std::nullopt;
        }
        if (!find_series(program_)) {
            why_.what = "rank 0 exchanges messages with one rank after the other in no order";
            return std::nullopt;
        }
        return std::move(program_);
    }

  private:
    using SiteKey = std::tuple<Action::Kind, TagRule, PeerRule>;

    /// Gives the messages and collectives of a rank their items, and its waits none yet.
    bool number_calls(std::uint32_t rank) {
        const RankActions& actions = run_.run().rank(rank);
        std::vector<std::uint32_t> seen(program_.sites.size(), 0);
        for (const Action& action : actions.all()) {
            if (action.kind == Action::Kind::wait) {
                items_of_[rank].push_back(no_item);
                continue;
            }
            const std::optional<std::uint32_t> site = site_of(rank, action);
            if (!site) {
                return false;
            }
            seen.resize(program_.sites.size(), 0);
            std::vector<std::uint32_t>& items = items_of_site_[*site];
            if (seen[*site] == items.size()) {
                items.push_back(static_cast<std::uint32_t>(numbered_.size()));
                numbered_.push_back({.kind = action.kind, .site = *site});
            }
            items_of_[rank].push_back(items[seen[*site]++]);
        }
        calls_.push_back(std::move(seen));
        return true;
    }

    std::optional<std::uint32_t> site_of(std::uint32_t rank, const Action& action) {
        const RankActions& actions = run_.run().rank(rank);
        if (action.kind == Action::Kind::collective) {
            const auto rule = run_.collective(actions.collective(action), action.nonblocking);
            if (!rule) {
                why_.what =
                    "a collective of rank " + std::to_string(rank) +
                    " is on a communicator that is no row, column or plane of the grid, or has different counts";
                return std::nullopt;
            }
            const auto [known, is_new] = collectives_.try_emplace(rule->key(), 0);
            if (is_new) {
                known->second = add_site({.kind = action.kind, .collective = *rule});
            }
            return known->second;
        }
        const Message& message = actions.message(action);
        const std::optional<TagRule> tag = run_.tag(message.tag);
        const std::optional<PeerRule> peer = rule_of(rank, message.peer);
        const bool follows = peer && (peer->kind == PeerRule::Kind::any ||
                                      collectives::peer_of(*peer, run_.grid(), rank) == message.peer);
        if (!tag || !follows) {
            why_.what =
                "a " + name_of(action.kind) + " of rank " + std::to_string(rank) + " with rank " +
                std::to_string(message.peer) +
                (tag ? " follows no rule" : " is on a communicator that is no row, column or plane of the grid");
            return std::nullopt;
        }
        const auto [known, is_new] = sites_.try_emplace({action.kind, *tag, *peer}, 0);
        if (is_new) {
            known->second = add_site({.kind = action.kind, .peers = {*peer}, .tag = *tag});
        }
        return known->second;
    }

    std::uint32_t add_site(Site site) {
        program_.sites.push_back(std::move(site));
        items_of_site_.emplace_back();
        return static_cast<std::uint32_t>(program_.sites.size() - 1);
    }

    [[nodiscard]] std::optional<PeerRule> rule_of(std::uint32_t rank, std::uint32_t peer) const {
        if (peer == goal::any) {
            return PeerRule{};
        }
        if (kind_.on == NeighbourKind::On::star) {
            return rank == 0 ? PeerRule{.kind = PeerRule::Kind::worker, .number = peer - 1}
                             : PeerRule{.kind = PeerRule::Kind::fixed, .number = 0};
        }
        if (kind_.on == NeighbourKind::On::tree) {
            for (const PeerRule::Kind kind :
                 {PeerRule::Kind::parent, PeerRule::Kind::left_child, PeerRule::Kind::right_child}) {
                const PeerRule rule{.kind = kind};
                if (collectives::peer_of(rule, run_.grid(), rank) == peer) {
                    return rule;
                }
            }
            return std::nullopt;
        }
        PeerRule rule{.kind = PeerRule::Kind::shift, .periodic = kind_.periodic};
        for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
            const auto extent = static_cast<std::int32_t>(run_.grid().extents[d]);
            const auto from = static_cast<std::int32_t>(run_.grid().coordinate(rank, d));
            rule.shift[d] = static_cast<std::int32_t>(run_.grid().coordinate(peer, d)) - from;
            if (kind_.periodic[d] && 2 * rule.shift[d] > extent) {
                rule.shift[d] -= extent;
            } else if (kind_.periodic[d] && 2 * rule.shift[d] <= -extent) {
                rule.shift[d] += extent;
            }
        }
        return rule;
    }

    /// Whether each rank that has a neighbour makes all the calls that others make with it.
    bool all_neighbours_have_all() {
        for (std::uint32_t site = 0; site < program_.sites.size(); ++site) {
            const Site& made = program_.sites[site];
            const std::size_t all = items_of_site_[site].size();
            for (std::uint32_t rank = 0; rank < run_.run().ranks(); ++rank) {
                const bool anywhere = made.kind == Action::Kind::collective ||
                                      made.peers.front().kind == PeerRule::Kind::any ||
                                      collectives::peer_of(made.peers.front(), run_.grid(), rank).has_value();
                const std::size_t calls = site < calls_[rank].size() ? calls_[rank][site] : 0;
                if (calls != (anywhere ? all : 0)) {
                    const std::string whom =
                        made.peers.empty() ? "collectives" : "messages with " + text_of(made.peers.front());
                    why_.what = "rank " + std::to_string(rank) + " has " + std::to_string(calls) + " " + whom +
                                ", and others have " + std::to_string(all);
                    return false;
                }
            }
        }
        return true;
    }

    /// Along a dimension of two ranks both neighbours are one. That they are no two, on a periodic grid, is seen where
    /// as many messages go to it as to a neighbour along a dimension of more ranks.
    bool sides_are_clear() {
        using Sides = std::array<std::size_t, 2>;
        std::array<Sides, ProcessGrid::dimensions> sends{};
        std::array<bool, ProcessGrid::dimensions> used{};
        for (std::uint32_t site = 0; site < program_.sites.size(); ++site) {
            const Site& made = program_.sites[site];
            if (!is_send(made.kind) || made.peers.front().kind != PeerRule::Kind::shift) {
                continue;
            }
            for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
                used[d] = used[d] || made.peers.front().shift[d] != 0;
            }
            if (const auto shift = straight_shift(made.peers.front())) {
                sends[shift->dimension][shift->upwards() ? 1 : 0] += items_of_site_[site].size();
            }
        }
        for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
            if (!used[d] || run_.grid().extents[d] > 2) {
                continue;
            }
            bool clear = false;
            for (std::uint32_t e = 0; e < ProcessGrid::dimensions; ++e) {
                clear = clear || (run_.grid().extents[e] > 2 && sends[e] == sends[d] && sends[d] != Sides{});
            }
            if (kind_.periodic[d] || !clear) {
                why_.two_ranks = true;
                why_.what =
                    "along dimension " + std::to_string(d) +
                    " there are two ranks, so that up and down are the same: trace three ranks or more along it";
                return false;
            }
        }
        return true;
    }

    std::uint32_t root_of(std::uint32_t item) {
        while (roots_[item] != item) {
            item = roots_[item] = roots_[roots_[item]];
        }
        return item;
    }

    /// Makes one wait of those which wait for the same call on some ranks.
    bool join_waits() {
        roots_.resize(numbered_.size());
        std::iota(roots_.begin(), roots_.end(), 0U);
        each_wait([this](std::uint32_t rank, std::uint32_t /*call*/, std::span<const std::uint32_t> awaited) {
            for (const std::uint32_t other : awaited.subspan(1)) {
                roots_[root_of(items_of_[rank][other])] = root_of(items_of_[rank][awaited[0]]);
            }
            return true;
        });
        std::map<std::uint32_t, std::uint32_t> waits;  // items, by root
        const bool joined =
            each_wait([&](std::uint32_t rank, std::uint32_t call, std::span<const std::uint32_t> awaited) {
                const auto [known, is_new] = waits.try_emplace(root_of(items_of_[rank][awaited[0]]), 0);
                if (is_new) {
                    known->second = static_cast<std::uint32_t>(numbered_.size());
                    numbered_.push_back({.kind = Action::Kind::wait});
                }
                items_of_[rank][call] = known->second;
                return last_of_wait(rank, known->second);
            });
        if (!joined) {
            why_.what = "one rank waits for calls one by one for which another waits at once";
            return false;
        }
        std::map<std::uint32_t, std::vector<std::uint32_t>> awaited;  // messages, by wait
        for (std::uint32_t item = 0; item < roots_.size(); ++item) {
            if (const auto wait = waits.find(root_of(item)); wait != waits.end()) {
                awaited[wait->second].push_back(item);
            }
        }
        for (const auto& [wait, items] : awaited) {
            numbered_[wait].awaited_begin = static_cast<std::uint32_t>(program_.awaited.size());
            program_.awaited.insert(program_.awaited.end(), items.begin(), items.end());
            numbered_[wait].awaited_end = static_cast<std::uint32_t>(program_.awaited.size());
        }
        return true;
    }

    /// Whether it is the rank's first call with this wait.
    bool last_of_wait(std::uint32_t rank, std::uint32_t wait) {
        waited_.resize(numbered_.size(), no_item);
        if (waited_[wait] == rank) {
            return false;
        }
        waited_[wait] = rank;
        return true;
    }

    template <class Use>
    bool each_wait(Use use) {
        for (std::uint32_t rank = 0; rank < run_.run().ranks(); ++rank) {
            const std::span<const Action> all = run_.run().rank(rank).all();
            for (std::uint32_t call = 0; call < all.size(); ++call) {
                if (all[call].kind == Action::Kind::wait &&
                    !use(rank, call, run_.run().rank(rank).awaited(all[call]))) {
                    return false;
                }
            }
        }
        return true;
    }

    static constexpr std::uint32_t no_item = 0xffffffff;

    const RunOnGrid& run_;
    NeighbourKind kind_;
    Refusal& why_;
    SymbolicProgram program_;
    std::vector<Item> numbered_;                        ///< the items, in no order yet
    std::vector<std::vector<std::uint32_t>> items_of_;  ///< by rank and call
    std::map<SiteKey, std::uint32_t> sites_;
    std::map<CollectiveRule::Key, std::uint32_t> collectives_;  ///< sites
    std::vector<std::vector<std::uint32_t>> items_of_site_;
    std::vector<std::vector<std::uint32_t>> calls_;  ///< by rank and site
    std::vector<std::uint32_t> roots_;               ///< of items that some wait waits for together
    std::vector<std::uint32_t> waited_;              ///< by item of a wait: the last rank that had it
};

}  // namespace

std::optional<SymbolicProgram> recognise_neighbours(const RunOnGrid& run, const NeighbourKind& kind, Refusal& why) {
    why = {};
    return NeighbourRecognition(run, kind, why).recognise();
}

}  // namespace idlewave::extrapolation
