#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "extrapolation/recognition.hpp"
#include "goal/op.hpp"

namespace idlewave::extrapolation {
namespace {

/// Recognises a program whose n-th call is the same for all ranks.
class UniformRecognition {
  public:
    UniformRecognition(const RunOnGrid& run, Refusal& why) : run_(run), why_(why), peers_(run.run().ranks()) {}

    std::optional<SymbolicProgram> recognise() {
        const std::size_t calls = run_.run().rank(0).all().size();
        for (std::uint32_t rank = 1; rank < run_.run().ranks(); ++rank) {
            if (run_.run().rank(rank).all().size() != calls) {
                why_.what = "ranks make different numbers of calls";
                return std::nullopt;
            }
        }
        program_.grid = run_.grid();
        program_.items.reserve(calls);
        for (std::uint32_t call = 0; call < calls; ++call) {
            if (!add(call)) {
                return std::nullopt;
            }
        }
        if (!find_series(program_)) {
            why_.what = "ranks exchange messages with one rank after the other in no order";
            return std::nullopt;
        }
        if (!find_directions(program_)) {
            why_.two_ranks = true;
            why_.what =
                "along a dimension there are two ranks, so that up and down are the same: trace three ranks or more "
                "along it";
            return std::nullopt;
        }
        return std::move(program_);
    }

  private:
    [[nodiscard]] const Action& action(std::uint32_t rank, std::uint32_t call) const {
        return run_.run().rank(rank).all()[call];
    }

    bool refuse(std::uint32_t call, const std::string& what) {
        why_.what = name_of(action(0, call).kind) + " number " + std::to_string(call + 1) + " " + what;
        return false;
    }

    bool add(std::uint32_t call) {
        const Action::Kind kind = action(0, call).kind;
        for (std::uint32_t rank = 1; rank < run_.run().ranks(); ++rank) {
            if (action(rank, call).kind != kind) {
                return refuse(call, "is another call on another rank");
            }
        }
        if (kind == Action::Kind::wait) {
            return add_wait(call);
        }
        return kind == Action::Kind::collective ? add_collective(call) : add_message(call);
    }

    bool add_wait(std::uint32_t call) {
        const auto awaited = run_.run().rank(0).awaited(action(0, call));
        for (std::uint32_t rank = 1; rank < run_.run().ranks(); ++rank) {
            if (!std::ranges::equal(run_.run().rank(rank).awaited(action(rank, call)), awaited)) {
                return refuse(call, "waits for other calls on another rank");
            }
        }
        const auto begin = static_cast<std::uint32_t>(program_.awaited.size());
        program_.awaited.insert(program_.awaited.end(), awaited.begin(), awaited.end());
        program_.items.push_back({.kind = Action::Kind::wait,
                                  .awaited_begin = begin,
                                  .awaited_end = static_cast<std::uint32_t>(program_.awaited.size())});
        return true;
    }

    [[nodiscard]] std::optional<CollectiveRule> collective_of(std::uint32_t rank, std::uint32_t call) const {
        const Action& own = action(rank, call);
        return run_.collective(run_.run().rank(rank).collective(own), own.nonblocking);
    }

    bool add_collective(std::uint32_t call) {
        const std::optional<CollectiveRule> rule = collective_of(0, call);
        if (!rule) {
            return refuse(
                call,
                "is on a communicator that is no row, column or plane of the grid, or its ranks have different "
                "counts");
        }
        for (std::uint32_t rank = 1; rank < run_.run().ranks(); ++rank) {
            if (collective_of(rank, call) != rule) {
                return refuse(call, "is another collective on another rank");
            }
        }
        const auto next = static_cast<std::uint32_t>(program_.sites.size());
        const auto [known, is_new] = collectives_.try_emplace(rule->key(), next);
        if (is_new) {
            program_.sites.push_back({.kind = Action::Kind::collective, .collective = *rule});
        }
        program_.items.push_back({.kind = Action::Kind::collective, .site = known->second});
        return true;
    }

    bool add_message(std::uint32_t call) {
        const Action::Kind kind = action(0, call).kind;
        const std::uint32_t raw_tag = run_.run().rank(0).message(action(0, call)).tag;
        std::optional<TagRule> tag = run_.tag(raw_tag);
        bool sames = tag.has_value();
        for (std::uint32_t rank = 0; rank < run_.run().ranks(); ++rank) {
            const Message& message = run_.run().rank(rank).message(action(rank, call));
            peers_[rank] = message.peer;
            sames = sames && (message.tag == raw_tag || run_.tag(message.tag) == tag);
        }
        if (!sames) {
            return refuse(call, "has another tag on another rank, or a communicator that is no row, column or plane");
        }
        const auto [known, is_new] = sites_.try_emplace({kind, *tag, peers_}, 0);
        if (is_new) {
            std::vector<PeerRule> rules = rules_of_peers();
            if (rules.empty()) {
                sites_.erase(known);
                return refuse(call, "has peers that follow no rule");
            }
            known->second = static_cast<std::uint32_t>(program_.sites.size());
            program_.sites.push_back({.kind = kind, .peers = std::move(rules), .tag = *tag});
        }
        program_.items.push_back({.kind = kind, .site = known->second});
        return true;
    }

    /// The rules that give all ranks their peers.
    [[nodiscard]] std::vector<PeerRule> rules_of_peers() const {
        if (std::ranges::count(peers_, goal::any) == std::ssize(peers_)) {
            return {PeerRule{}};
        }
        if (std::ranges::count(peers_, goal::any) != 0) {
            return {};
        }
        std::vector<PeerRule> candidates = shifts();
        const auto flip = flips();
        const bool steps =
            std::ranges::all_of(candidates.front().shift, [](std::int32_t s) { return std::abs(s) <= 1; });
        candidates.insert(steps ? candidates.end() : candidates.begin(), flip.begin(), flip.end());
        candidates.push_back({.kind = PeerRule::Kind::transpose});
        candidates.push_back({.kind = PeerRule::Kind::other, .number = peers_[0] - 1});
        std::erase_if(candidates, [this](const PeerRule& rule) {
            for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
                if (collectives::peer_of(rule, run_.grid(), rank) != peers_[rank]) {
                    return true;
                }
            }
            return false;
        });
        return candidates;
    }

    /// The shifts that lead rank 0 to its peer: in a direction by as few ranks as possible, or the other way round.
    [[nodiscard]] std::vector<PeerRule> shifts() const {
        std::vector<PeerRule> rules{{.kind = PeerRule::Kind::shift}};
        for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
            const auto extent = static_cast<std::int32_t>(run_.grid().extents[d]);
            const auto distance = static_cast<std::int32_t>(run_.grid().coordinate(peers_[0], d));
            if (distance == 0) {
                continue;
            }
            const std::int32_t shortest = 2 * distance <= extent ? distance : distance - extent;
            const std::size_t before = rules.size();
            for (std::size_t i = 0; i < before; ++i) {
                rules[i].periodic[d] = true;
                rules[i].shift[d] = shortest;
                if (2 * distance == extent) {
                    rules.push_back(rules[i]);
                    rules.back().shift[d] = -shortest;
                }
            }
        }
        return rules;
    }

    [[nodiscard]] std::vector<PeerRule> flips() const {
        std::vector<PeerRule> rules;
        for (std::uint8_t d = 0; d < ProcessGrid::dimensions; ++d) {
            const std::uint32_t mask = run_.grid().coordinate(peers_[0], d);
            if (mask != 0) {
                rules.push_back({.kind = PeerRule::Kind::flip, .dimension = d, .mask = mask});
            }
        }
        return rules;
    }

    const RunOnGrid& run_;
    Refusal& why_;
    std::vector<std::uint32_t> peers_;  ///< of the call that is added, by rank
    SymbolicProgram program_;
    std::map<std::tuple<Action::Kind, TagRule, std::vector<std::uint32_t>>, std::uint32_t> sites_;
    std::map<CollectiveRule::Key, std::uint32_t> collectives_;  ///< sites
};

}  // namespace

std::optional<SymbolicProgram> recognise_uniform(const RunOnGrid& run, Refusal& why) {
    why = {};
    return UniformRecognition(run, why).recognise();
}

}  // namespace idlewave::extrapolation
