#include "extrapolation/continued_program.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "goal/op.hpp"
#include "trace/tags.hpp"

namespace idlewave::extrapolation {
namespace {

using collectives::Instruction;
using collectives::MappedTag;
using collectives::Structure;

/// Numbers that all ranks' programs share: of rules, tags and communicators.
class SharedNumbers {
  public:
    explicit SharedNumbers(Structure& structure) : structure_(structure) {}

    std::uint32_t peer(const PeerRule& rule) {
        const auto [known, is_new] = peers_.try_emplace(rule, static_cast<std::uint32_t>(structure_.peers.size()));
        if (is_new) {
            structure_.peers.push_back(rule);
        }
        return known->second;
    }

    std::uint32_t tag(const TagRule& rule) {
        if (rule.world && rule.space == 0 && (rule.tag == goal::any || rule.tag < MappedTag::first)) {
            return rule.tag;
        }
        const auto next = static_cast<std::uint32_t>(tags_.size());
        return MappedTag::first + tags_.try_emplace(rule, next).first->second % (MappedTag::end - MappedTag::first);
    }

    /// The number of a communicator's range of tags, which is also that of the communicator and of its counter.
    std::uint32_t communicator(const CollectiveRule& rule) {
        const auto next = static_cast<std::uint32_t>(communicators_.size());
        const auto [known, is_new] = communicators_.try_emplace({rule.communicator, rule.duplicate, rule.tags}, next);
        if (is_new) {
            structure_.communicators.push_back(rule.communicator);
        }
        return known->second;
    }

    [[nodiscard]] std::uint32_t communicators() const { return static_cast<std::uint32_t>(communicators_.size()); }

  private:
    Structure& structure_;
    std::map<PeerRule, std::uint32_t> peers_;
    std::map<TagRule, std::uint32_t> tags_;
    std::map<std::tuple<CommunicatorRule, std::uint32_t, std::uint32_t>, std::uint32_t> communicators_;
};

/// Writes the program of a rank, call by call.
class ProgramWriter {
  public:
    ProgramWriter(const SymbolicProgram& program, SharedNumbers& numbers, std::uint32_t rank)
        : symbolic_(program), numbers_(numbers), rank_(rank) {}

    void add(const PlannedCall& call, const Sizes& sizes, std::uint64_t ns) {
        const Item& item = symbolic_.items[call.item];
        const bool ends_message = item.kind == Action::Kind::wait && message_ && ns == 0 && call.awaited.size() == 1 &&
                                  call.awaited[0] + 1 == calls_;
        flush(ends_message);
        if (ns > 0) {
            program_.instructions.extend_calc(ns);
        }
        if (item.kind == Action::Kind::wait) {
            if (!ends_message) {
                wait(call.awaited);
            }
        } else if (item.kind == Action::Kind::collective) {
            collective(item.site, sizes);
        } else {
            message(call, item, sizes);
        }
        ++calls_;
    }

    collectives::RankProgram take(std::uint64_t last_ns) {
        flush(false);
        if (last_ns > 0) {
            program_.instructions.extend_calc(last_ns);
        }
        program_.instructions.fold();
        return std::move(program_);
    }

  private:
    /// Adds the message whose wait may have followed.
    void flush(bool blocking) {
        if (message_) {
            message_->blocking = blocking;
            message_->slot = blocking ? collectives::no_slot : slot_for(calls_ - 1);
            program_.instructions.push_back(*message_);
            message_.reset();
        }
    }

    void message(const PlannedCall& call, const Item& item, const Sizes& sizes) {
        Instruction instruction{
            .kind = is_send(item.kind) ? Instruction::Kind::send : Instruction::Kind::recv,
            .tag = numbers_.tag(symbolic_.sites[item.site].tag),
            .size = sizes[0] | (item.kind == Action::Kind::synchronous_send ? goal::synchronous_bit : 0)};
        if (call.rule.kind == PeerRule::Kind::any) {
            instruction.peer = goal::any;
        } else if (call.rule.kind == PeerRule::Kind::shift && item.role == Item::Role::none) {
            instruction.peer = call.peer - rank_ + Structure::distance_zero;
        } else {
            instruction.by_rule = true;
            instruction.peer = numbers_.peer(call.rule);
        }
        message_ = instruction;
    }

    void collective(std::uint32_t number_of_site, const Sizes& sizes) {
        const CollectiveRule& rule = symbolic_.sites[number_of_site].collective;
        const auto next = static_cast<std::uint32_t>(program_.collectives.size());
        const auto [known, is_new] = collectives_.try_emplace({number_of_site, sizes}, next);
        if (is_new) {
            program_.collectives.push_back(site_of(rule, sizes));
        }
        program_.instructions.push_back({.kind = Instruction::Kind::collective,
                                         .slot = rule.nonblocking ? slot_for(calls_) : collectives::no_slot,
                                         .begin = known->second});
    }

    collectives::CollectiveSite site_of(const CollectiveRule& rule, const Sizes& sizes) {
        const std::uint32_t communicator = numbers_.communicator(rule);
        collectives::CollectiveSite site{.step = rule.step,
                                         .communicator = communicator,
                                         .root = rule.root,
                                         .tag = trace::Tags::of_collectives(communicator),
                                         .counter = communicator,
                                         .bytes = sizes[0],
                                         .collective = rule.collective,
                                         .rules_used = rule.rules_used,
                                         .last_is_root = rule.last_is_root};
        if (rule.sends_counts) {
            site.send_counts = {sizes[1]};
        }
        if (rule.recvs_counts) {
            site.recv_counts = {sizes[2]};
        }
        return site;
    }

    void wait(std::span<const std::uint32_t> awaited) {
        std::vector<std::uint32_t> slots;
        for (const std::uint32_t call : awaited) {
            const auto slot = slots_.extract(call);
            slots.push_back(slot.mapped());
            unused_.insert(slot.mapped());
        }
        const auto next = static_cast<std::uint32_t>(program_.slot_lists.size());
        const auto [known, is_new] = lists_.try_emplace(slots, next);
        if (is_new) {
            program_.slot_lists.insert(program_.slot_lists.end(), slots.begin(), slots.end());
        }
        program_.instructions.push_back({.kind = Instruction::Kind::wait,
                                         .begin = known->second,
                                         .count = static_cast<std::uint32_t>(slots.size())});
    }

    /// The lowest unused slot, so that iterations that do the same use the same ones.
    std::uint32_t slot_for(std::uint32_t call) {
        std::uint32_t slot = program_.slots;
        if (unused_.empty()) {
            ++program_.slots;
        } else {
            slot = unused_.extract(unused_.begin()).value();
        }
        slots_[call] = slot;
        return slot;
    }

    const SymbolicProgram& symbolic_;
    SharedNumbers& numbers_;
    std::uint32_t rank_;
    collectives::RankProgram program_;
    std::uint32_t calls_ = 0;
    std::optional<Instruction> message_;  ///< the last call, if it is a message
    std::set<std::uint32_t> unused_;
    std::unordered_map<std::uint32_t, std::uint32_t> slots_;  ///< by call that no wait has waited for
    std::map<std::vector<std::uint32_t>, std::uint32_t> lists_;
    std::map<std::pair<std::uint32_t, Sizes>, std::uint32_t> collectives_;  ///< by site and sizes
};

class Continuation {
  public:
    Continuation(const SymbolicProgram& program, const RunOnGrid& largest, const Measured& measured,
                 const ProcessGrid& grid, const Continued& continued)
        : symbolic_(program),
          largest_(largest),
          measured_(measured),
          grid_(grid),
          continued_(continued),
          numbers_(structure_),
          walk_(program, grid),
          times_(largest.run().ranks()) {
        for (const Site& site : program.sites) {
            if (!site.peers.empty()) {
                rules_.push_back(site.peers.front());
            }
        }
        std::ranges::sort(rules_);
        rules_.erase(std::unique(rules_.begin(), rules_.end()), rules_.end());
    }

    collectives::Program make() {
        structure_.grid = grid_;
        for (std::uint32_t rank = 0; rank < largest_.run().ranks(); ++rank) {
            traced_[neighbours_of(largest_.grid(), rank).first].push_back(rank);
        }
        std::map<std::tuple<Present, std::vector<std::uint32_t>, std::uint32_t>, std::uint32_t> known;
        collectives::Program result{.ranks = {},
                                    .communicators = {},
                                    .reduction_cost = largest_.run().program().reduction_cost,
                                    .rules = largest_.run().program().rules};
        for (std::uint32_t rank = 0; rank < grid_.ranks(); ++rank) {
            const auto [present, distances] = neighbours_of(grid_, rank);
            const std::vector<std::uint32_t>& like = traced_like(present);
            const std::uint32_t traced = like[rank % like.size()];
            const auto [program, is_new] = known.try_emplace({present, distances, traced}, result.ranks.size());
            if (is_new) {
                result.ranks.push_back(write(rank, traced));
            }
            structure_.programs.push_back(program->second);
        }
        for (collectives::RankProgram& rank : result.ranks) {
            rank.counters = numbers_.communicators();
        }
        result.structure = std::move(structure_);
        return result;
    }

  private:
    using Present = std::vector<bool>;

    /// For which rules a rank has a peer, and how far ahead those of shifts are.
    [[nodiscard]] std::pair<Present, std::vector<std::uint32_t>> neighbours_of(const ProcessGrid& grid,
                                                                               std::uint32_t rank) const {
        std::pair<Present, std::vector<std::uint32_t>> result;
        for (const PeerRule& rule : rules_) {
            const auto peer =
                rule.kind == PeerRule::Kind::any ? std::optional(rank) : collectives::peer_of(rule, grid, rank);
            result.first.push_back(peer.has_value());
            result.second.push_back(peer && rule.kind == PeerRule::Kind::shift ? *peer - rank : 0);
        }
        return result;
    }

    /// The traced ranks with the same neighbours, or else with the most of them.
    const std::vector<std::uint32_t>& traced_like(const Present& present) {
        if (const auto same = traced_.find(present); same != traced_.end()) {
            return same->second;
        }
        const auto common = [&](const Present& others) {
            return std::inner_product(present.begin(), present.end(), others.begin(), 0, std::plus<>(),
                                      std::logical_and<>());
        };
        return std::ranges::max_element(traced_, {}, [&](const auto& ranks) { return common(ranks.first); })->second;
    }

    collectives::RankProgram write(std::uint32_t rank, std::uint32_t traced) {
        const std::vector<std::uint64_t>& times = times_of(traced);
        ProgramWriter writer(symbolic_, numbers_, rank);
        walk_(rank, [&](const PlannedCall& call) {
            const Measured::Of& of = measured_.items[call.item];
            const double ns = times[call.item] != no_time ? static_cast<double>(times[call.item])
                              : of.ranks > 0              ? of.ns / of.ranks
                                                          : 0;
            writer.add(call, continued_.sizes(call), rounded(ns * continued_.time_factor(call.item)));
            return true;
        });
        return writer.take(largest_.run().rank(traced).last_ns());
    }

    [[nodiscard]] static std::uint64_t rounded(double ns) { return static_cast<std::uint64_t>(std::llround(ns)); }

    /// The computation of a traced rank before each item, in ns.
    const std::vector<std::uint64_t>& times_of(std::uint32_t traced) {
        std::vector<std::uint64_t>& times = times_[traced];
        if (times.empty()) {
            times.assign(symbolic_.items.size(), no_time);
            std::size_t call = 0;
            const std::span<const Action> actions = largest_.run().rank(traced).all();
            Walk(symbolic_, largest_.grid())(traced, [&](const PlannedCall& planned) {
                times[planned.item] = actions[call++].ns;
                return true;
            });
        }
        return times;
    }

    static constexpr std::uint64_t no_time = ~std::uint64_t{0};

    const SymbolicProgram& symbolic_;
    const RunOnGrid& largest_;
    const Measured& measured_;
    ProcessGrid grid_;
    const Continued& continued_;
    Structure structure_;
    SharedNumbers numbers_;
    Walk walk_;
    std::vector<PeerRule> rules_;
    std::map<Present, std::vector<std::uint32_t>> traced_;  ///< ranks, by their neighbours
    std::vector<std::vector<std::uint64_t>> times_;         ///< by traced rank
};

}  // namespace

collectives::Program continued_program(const SymbolicProgram& program, const RunOnGrid& largest,
                                       const Measured& measured, const ProcessGrid& grid, const Continued& continued) {
    return Continuation(program, largest, measured, grid, continued).make();
}

}  // namespace idlewave::extrapolation
