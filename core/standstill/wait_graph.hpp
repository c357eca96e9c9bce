#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "goal/op.hpp"
#include "goal/rank_schedule.hpp"
#include "standstill/blocked_ops.hpp"
#include "standstill/left.hpp"

namespace idlewave {

/// Who waits for whom when nothing can happen any more. A pending op waits for *any* op that would be its other half
/// and has not become ready; such an op waits for *all* of its rank's pending ops on which it depends. So a receive
/// from any source may have several ways out, and is part of a deadlock only if each of them is blocked.
///
/// Pending ops of one rank with the same peer and tag wait for the same, and are one node. Who takes which message is
/// not decided here: two receives may count on the same send. So what is said to be a deadlock is one, whatever happens
/// with the messages that are missing.
class WaitGraph {
  public:
    static constexpr std::size_t none = ~std::size_t{0};

    /// What a pending op waits for: the op of another rank, or its own, that would be its other half.
    struct Way {
        std::uint32_t rank = 0;
        OpIndex op_index = 0;
        std::size_t after = none;  ///< the pending op of that rank which has to end first, by its number; or `none`
        std::size_t others = 0;    ///< there are so many other ways
    };
    /// A part of a cycle: a pending op, and what it waits for, where the next part goes on.
    struct Hop {
        std::size_t pending = 0;
        Way way;
    };

    /// `pending`: of all ranks, in the order of Left::sort. It must outlive this.
    explicit WaitGraph(std::span<const PendingOp> pending);

    /// Adds the ops of a rank that have not become ready. Ranks come in order; `first` is the number of its first
    /// pending op, if it has one.
    void add_rank(std::uint32_t rank, const RankSchedule& rank_schedule, const BlockedOps& blocked, std::size_t first);
    /// Once all ranks are there.
    void solve();

    /// Whether there is an op that would be the other half of this pending one.
    [[nodiscard]] bool has_way(std::size_t pending) const { return nodes_[node_of_[pending]].has_way; }
    /// The first way, if it is known.
    [[nodiscard]] std::optional<Way> way_of(std::size_t pending) const;
    /// Whether there are so many ways that some are left out; then no cycle is looked for.
    [[nodiscard]] bool is_partial() const { return partial_; }

    /// The pending ops that wait for each other in a cycle; empty if there is none. It begins at a low rank, and is the
    /// shortest one there.
    [[nodiscard]] std::vector<Hop> cycle() const;

  private:
    using NodeNumber = std::uint32_t;

    /// Where a message is received, from whom, and with what tag.
    struct Key {
        std::uint32_t where = 0;
        std::uint32_t source = 0;
        std::uint32_t tag = 0;

        auto operator<=>(const Key&) const = default;
    };
    struct Node {
        Key key;
        std::uint32_t first = 0;              ///< its first pending op
        std::uint32_t last_set = 0xffffffff;  ///< of the way that was added last
        bool has_way = false;
        bool released = false;  ///< would end if all receives and sends without a way did
    };
    /// That one of a node's pending ops for which a blocked op waits; of several the first.
    struct Member {
        NodeNumber node = 0;
        std::uint32_t pending = 0;
    };
    /// One way of a node.
    struct Arrow {
        NodeNumber from = 0;
        std::uint32_t set = 0;  ///< of nodes, all of which have to end first
        std::uint32_t rank = 0;
        OpIndex op_index = 0;
    };
    /// Numbers by numbers: all of the first, one after the other.
    struct Lists {
        std::vector<std::uint64_t> begin;
        std::vector<std::uint32_t> entries;

        [[nodiscard]] std::span<const std::uint32_t> of(std::size_t i) const {
            return std::span(entries).subspan(begin[i], begin[i + 1] - begin[i]);
        }
    };

    void make_nodes(OpKind kind);
    std::uint32_t add_set(const BlockedOps& blocked, std::uint32_t cause, std::size_t first);
    template <class Use>
    void each_node(OpKind kind, const Key& key, Use use) const;
    void release();
    [[nodiscard]] std::span<const Arrow> arrows_of(NodeNumber node) const;
    [[nodiscard]] std::span<const Member> members(std::uint32_t set) const {
        return std::span(members_).subspan(set_begin_[set], set_begin_[set + 1] - set_begin_[set]);
    }
    [[nodiscard]] Lists sets_by_member() const;
    [[nodiscard]] Lists nodes_by_set() const;
    [[nodiscard]] NodeNumber next_stuck(NodeNumber node) const;
    [[nodiscard]] std::vector<NodeNumber> shortest_cycle(NodeNumber through) const;
    [[nodiscard]] std::vector<NodeNumber> shortest_cycle_near(NodeNumber begin, std::vector<NodeNumber> stuck) const;
    [[nodiscard]] Way way_between(NodeNumber from, NodeNumber to) const;

    std::span<const PendingOp> pending_;
    std::vector<NodeNumber> node_of_;  ///< by pending op
    std::vector<Node> nodes_;          ///< the receives, then the sends, each by their keys
    std::size_t receives_ = 0;
    std::vector<Arrow> arrows_;  ///< once solved: by `from`
    std::vector<std::uint64_t> first_arrow_;
    std::vector<std::uint64_t> set_begin_ = {0};
    std::vector<Member> members_;  ///< of all sets, each by node
    std::vector<bool> endless_;    ///< by set: ops that wait for themselves are in it
    bool partial_ = false;
};

}  // namespace idlewave
