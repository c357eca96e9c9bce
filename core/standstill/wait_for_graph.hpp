#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "goal/op.hpp"
#include "goal/rank_schedule.hpp"
#include "standstill/blocked_ops.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave::standstill {

/// The AND-OR wait-for graph of a simulation that cannot go on. A pending op waits for *any* blocked op that could
/// match it (OR). A blocked op waits for *all* pending ops of its rank on which it depends (AND). So a receive from any
/// source may have several potential matches, and is part of a deadlock only if each of them is blocked.
///
/// Pending ops of one rank with the same peer and tag wait for the same ops, and are one node. The graph does not
/// decide which receive takes which message: two receives may have the same potential match. So it reports only
/// deadlocks that exist however the missing messages are matched.
class WaitForGraph {
  public:
    static constexpr std::size_t none = ~std::size_t{0};

    /// A potential match of a pending op: a blocked op of another rank, or of its own.
    struct PotentialMatch {
        std::uint32_t rank = 0;
        goal::OpIndex op_index = 0;
        std::size_t after = none;  ///< the pending op, by number, that has to end before the match can start; or `none`
        std::size_t others = 0;    ///< the number of other potential matches
    };
    /// One step of a cycle: a pending op and its potential match, which waits for the next pending op.
    struct CycleStep {
        std::size_t pending = 0;
        PotentialMatch match;
    };

    /// `pending` are the pending ops of all ranks, in the order of Unfinished::sort. They must outlive this object.
    explicit WaitForGraph(std::span<const PendingOp> pending);

    /// Adds the blocked ops of a rank. Ranks are added in order; `first` is the number of the rank's first pending op,
    /// if it has one.
    void add_rank(std::uint32_t rank, const goal::RankSchedule& rank_schedule, const BlockedOps& blocked,
                  std::size_t first);
    /// Reduces the graph; to be called after all ranks were added.
    void solve();

    /// Whether a pending op has a potential match.
    [[nodiscard]] bool has_match(std::size_t pending) const { return nodes_[node_of_[pending]].has_match; }
    /// The first potential match, if it is known.
    [[nodiscard]] std::optional<PotentialMatch> match_of(std::size_t pending) const;
    /// Whether some potential matches were left out, as there are too many. Then there is no search for cycles.
    [[nodiscard]] bool is_truncated() const { return truncated_; }

    /// A cycle of pending ops that wait for each other; empty if there is none. It begins at a low rank and is a
    /// shortest one there.
    [[nodiscard]] std::vector<CycleStep> cycle() const;

  private:
    using NodeNumber = std::uint32_t;

    /// The groups of nodes: the kinds of pending ops.
    enum class Group : std::uint8_t { receives, sends, awaits, locks };
    static constexpr std::size_t groups = 4;

    /// The receiver, the sender and the tag of a message or a notification; the rank, the holder and the number of a
    /// lock.
    struct Key {
        std::uint32_t where = 0;
        std::uint32_t source = 0;
        std::uint32_t tag = 0;

        auto operator<=>(const Key&) const = default;
    };
    struct Node {
        Key key;
        std::uint32_t first = 0;              ///< the first pending op of the node
        std::uint32_t last_set = 0xffffffff;  ///< the set of the arc that was added last
        bool has_match = false;
        bool released = false;  ///< ends if all pending ops without a potential match do
    };
    /// A node in a set, and the first of its pending ops for which the blocked op waits.
    struct Member {
        NodeNumber node = 0;
        std::uint32_t pending = 0;
    };
    /// An arc from a node to the set of nodes that all have to end before one potential match can start.
    struct Arc {
        NodeNumber from = 0;
        std::uint32_t set = 0;
        std::uint32_t rank = 0;
        goal::OpIndex op_index = 0;
    };
    /// Lists of numbers, stored one after the other.
    struct Lists {
        std::vector<std::uint64_t> begin;
        std::vector<std::uint32_t> entries;

        [[nodiscard]] std::span<const std::uint32_t> of(std::size_t i) const {
            return std::span(entries).subspan(begin[i], begin[i + 1] - begin[i]);
        }
    };

    static Group group_of(goal::OpKind pending);
    static std::optional<Group> group_matched_by(const goal::Op& blocked);
    static Key key_of(const PendingOp& op);
    void make_nodes(Group group);
    std::uint32_t add_set(const BlockedOps& blocked, std::uint32_t cause, std::size_t first);
    template <class Use>
    void each_node(Group group, const Key& key, Use use) const;
    void release();
    [[nodiscard]] std::span<const Arc> arcs_of(NodeNumber node) const;
    [[nodiscard]] std::span<const Member> members(std::uint32_t set) const {
        return std::span(members_).subspan(set_begin_[set], set_begin_[set + 1] - set_begin_[set]);
    }
    [[nodiscard]] Lists sets_by_member() const;
    [[nodiscard]] Lists nodes_by_set() const;
    [[nodiscard]] NodeNumber next_stuck(NodeNumber node) const;
    [[nodiscard]] std::vector<NodeNumber> shortest_cycle(NodeNumber through) const;
    [[nodiscard]] std::vector<NodeNumber> shortest_cycle_near(NodeNumber begin, std::vector<NodeNumber> stuck) const;
    [[nodiscard]] PotentialMatch arc_match(NodeNumber from, NodeNumber to) const;

    std::span<const PendingOp> pending_;
    std::vector<NodeNumber> node_of_;  ///< by pending op
    std::vector<Node> nodes_;          ///< group by group, each sorted by key
    std::array<std::size_t, groups + 1> group_begin_ = {};
    std::vector<Arc> arcs_;  ///< sorted by `from` in `solve`
    std::vector<std::uint64_t> first_arc_;
    std::vector<std::uint64_t> set_begin_ = {0};
    std::vector<Member> members_;  ///< of all sets, each sorted by node
    std::vector<bool> endless_;    ///< by set: an op that waits for itself is in it, so the set never ends
    bool truncated_ = false;
};

}  // namespace idlewave::standstill
