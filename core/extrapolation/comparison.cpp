#include "extrapolation/comparison.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "goal/op.hpp"
#include "goal/source.hpp"

namespace idlewave::extrapolation {
namespace {

class Comparison {
  public:
    Comparison(const SymbolicProgram& program, const RunOnGrid& run, Measured& measured)
        : program_(program), run_(run), measured_(measured), walk_(program, run.grid()) {}

    std::optional<Difference> find() {
        if (const auto dimension = walk_.impossible_dimension()) {
            return Difference{"the calls repeat themselves for each bit of a coordinate, and dimension " +
                              std::to_string(*dimension) + " has no power of 2 of ranks"};
        }
        measured_ = {.grid = run_.grid(), .items = std::vector<Measured::Of>(program_.items.size())};
        for (std::uint32_t rank = 0; rank < run_.run().ranks(); ++rank) {
            rank_ = rank;
            call_ = 0;
            if (!walk_(rank, [this](const PlannedCall& planned) { return is_as(planned); })) {
                return std::move(difference_);
            }
            const std::size_t made = run_.run().rank(rank).all().size();
            if (call_ != made) {
                return Difference{
                    who() + " makes " + std::to_string(made) + " calls, expected " + std::to_string(call_), {}, call_};
            }
        }
        return std::nullopt;
    }

  private:
    [[nodiscard]] std::string who() const {
        return "rank " + std::to_string(rank_) + " of " + std::to_string(run_.run().ranks());
    }

    bool differs(const std::string& what, std::optional<std::uint32_t> site = {}) {
        difference_ = Difference{who() + ", call " + std::to_string(call_ + 1) + ": " + what, site, call_};
        return false;
    }

    /// Whether the next call of the rank is the planned one.
    bool is_as(const PlannedCall& planned) {
        const RankActions& actions = run_.run().rank(rank_);
        const Item& item = program_.items[planned.item];
        if (call_ == actions.all().size()) {
            return differs("expected a " + name_of(item.kind) + ", found the end");
        }
        const Action& action = actions.all()[call_];
        if (action.kind != item.kind) {
            return differs("expected a " + name_of(item.kind) + ", found a " + name_of(action.kind));
        }
        Sizes sizes{};
        if (item.kind == Action::Kind::wait) {
            if (!std::ranges::equal(actions.awaited(action), planned.awaited)) {
                return differs("waits for other calls");
            }
        } else if (item.kind == Action::Kind::collective) {
            const collectives::CollectiveSite& site = actions.collective(action);
            if (!is_collective(program_.sites[item.site].collective, site, action.nonblocking)) {
                return differs("is another collective, or on another communicator");
            }
            sizes = {site.bytes, site.send_counts.empty() ? 0 : site.send_counts.front(),
                     site.recv_counts.empty() ? 0 : site.recv_counts.front()};
        } else {
            const Message& message = actions.message(action);
            if (message.peer != planned.peer) {
                const std::string found = message.peer == goal::any ? "any rank" : std::to_string(message.peer);
                const std::string expected =
                    planned.peer == goal::no_rank ? "no message" : "rank " + std::to_string(planned.peer);
                return differs("a " + name_of(item.kind) + " with " + text_of(planned.rule) + " is " + expected +
                                   " here, found " + found,
                               item.site);
            }
            if (!has_tag(program_.sites[item.site].tag, message.tag)) {
                return differs("has another tag or communicator");
            }
            sizes = {message.size, 0, 0};
        }
        note(planned.item, action, sizes);
        ++call_;
        return true;
    }

    void note(std::uint32_t item, const Action& action, const Sizes& sizes) {
        Measured::Of& of = measured_.items[item];
        for (std::size_t which = 0; which < sizes.size(); ++which) {
            of.least[which] = of.ranks == 0 ? sizes[which] : std::min(of.least[which], sizes[which]);
            of.most[which] = std::max(of.most[which], sizes[which]);
            of.sums[which] += static_cast<double>(sizes[which]);
        }
        of.is_first = of.is_first || call_ == 0;
        of.ns += static_cast<double>(action.ns);
        ++of.ranks;
    }

    bool has_tag(const TagRule& rule, std::uint32_t tag) {
        using collectives::MappedTag;
        const auto& program = run_.run().program();
        if (tag == goal::any || tag < MappedTag::first) {
            return rule.world && rule.space == 0 && rule.tag == tag;
        }
        const std::uint32_t number = tag - MappedTag::first;
        if (number >= program.mapped_tags.size()) {
            return false;
        }
        const MappedTag& mapped = program.mapped_tags[number];
        const bool world = mapped.communicator >= program.communicators.size();
        return rule.space == mapped.space && rule.ordinal == mapped.ordinal && rule.tag == mapped.tag &&
               rule.world == world && (world || is(mapped.communicator, rule.communicator));
    }

    bool is_collective(const CollectiveRule& rule, const collectives::CollectiveSite& site, bool nonblocking) {
        const auto members = static_cast<std::uint32_t>(run_.run().program().communicators[site.communicator].size());
        const std::uint32_t root = rule.last_is_root ? members - 1 : rule.root;
        return rule.collective == site.collective && rule.rules_used == site.rules_used && rule.step == site.step &&
               rule.nonblocking == nonblocking && root == site.root && is(site.communicator, rule.communicator) &&
               are_equal(site.send_counts) && are_equal(site.recv_counts);
    }

    /// Whether the members of a traced communicator are as the rule says.
    bool is(std::uint32_t communicator, const CommunicatorRule& rule) {
        const auto [known, is_new] = is_.try_emplace({communicator, rule}, false);
        if (is_new) {
            const std::vector<std::uint32_t>& members = run_.run().program().communicators[communicator];
            bool same = rule.size(run_.grid()) == members.size();
            for (std::uint32_t i = 0; i < members.size() && same; ++i) {
                same = rule.member(run_.grid(), members[0], i) == members[i];
            }
            known->second = same;
        }
        return known->second;
    }

    const SymbolicProgram& program_;
    const RunOnGrid& run_;
    Measured& measured_;
    Walk walk_;
    std::uint32_t rank_ = 0;
    std::uint32_t call_ = 0;
    Difference difference_;
    std::map<std::pair<std::uint32_t, CommunicatorRule>, bool> is_;
};

}  // namespace

std::optional<Difference> compare(const SymbolicProgram& program, const RunOnGrid& run, Measured& measured) {
    return Comparison(program, run, measured).find();
}

}  // namespace idlewave::extrapolation
