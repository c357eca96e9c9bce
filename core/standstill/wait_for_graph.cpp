#include "standstill/wait_for_graph.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"

namespace idlewave::standstill {
namespace {

constexpr std::size_t most_arcs = std::size_t{1} << 24;
constexpr std::size_t most_graph_members = std::size_t{1} << 26;

}  // namespace

WaitForGraph::WaitForGraph(std::span<const PendingOp> pending) : pending_(pending), node_of_(pending.size()) {
    for (std::size_t group = 0; group < groups; ++group) {
        group_begin_[group] = nodes_.size();
        make_nodes(static_cast<Group>(group));
    }
    group_begin_[groups] = nodes_.size();
}

auto WaitForGraph::group_of(goal::OpKind pending) -> Group {
    switch (pending) {
        case goal::OpKind::recv:
            return Group::receives;
        case goal::OpKind::await:
            return Group::awaits;
        case goal::OpKind::lock:
        case goal::OpKind::shared_lock:
            return Group::locks;
        default:
            return Group::sends;
    }
}

/// A lock waits for whoever holds it.
auto WaitForGraph::key_of(const PendingOp& op) -> Key {
    switch (group_of(op.kind)) {
        case Group::sends:
            return {op.peer, op.rank, op.tag};
        case Group::locks:
            return {op.peer, op.holder, op.tag};
        default:
            return {op.rank, op.peer, op.tag};
    }
}

void WaitForGraph::make_nodes(Group group) {
    std::vector<std::uint32_t> ops;
    for (std::uint32_t i = 0; i < pending_.size(); ++i) {
        if (group_of(pending_[i].kind) == group) {
            ops.push_back(i);
        }
    }
    std::stable_sort(ops.begin(), ops.end(),
                     [this](std::uint32_t a, std::uint32_t b) { return key_of(pending_[a]) < key_of(pending_[b]); });
    for (const std::uint32_t i : ops) {
        const Key key = key_of(pending_[i]);
        if (i == ops.front() || nodes_.back().key != key) {
            nodes_.push_back({.key = key, .first = i});
        }
        node_of_[i] = static_cast<NodeNumber>(nodes_.size() - 1);
    }
}

/// Calls `use` with the number of every node of that group that an op with that key would match.
template <class Use>
void WaitForGraph::each_node(Group group, const Key& key, Use use) const {
    const auto number = static_cast<std::size_t>(group);
    const auto begin = nodes_.begin() + static_cast<std::ptrdiff_t>(group_begin_[number]);
    const auto end = nodes_.begin() + static_cast<std::ptrdiff_t>(group_begin_[number + 1]);
    const auto from = [&](const Key& least) {
        return std::lower_bound(begin, end, least, [](const Node& node, const Key& k) { return node.key < k; });
    };
    const auto in_range = [&](const Key& first, const Key& last) {
        for (auto node = from(first); node != end && node->key <= last; ++node) {
            if (goal::matches(node->key.source, key.source) && goal::matches(node->key.tag, key.tag)) {
                use(static_cast<NodeNumber>(node - nodes_.begin()));
            }
        }
    };
    const auto of_source = [&](std::uint32_t source) {
        if (key.tag == goal::any) {
            in_range({key.where, source, 0}, {key.where, source, goal::any});
            return;
        }
        in_range({key.where, source, key.tag}, {key.where, source, key.tag});
        in_range({key.where, source, goal::any}, {key.where, source, goal::any});
    };
    if (key.source == goal::any) {
        in_range({key.where, 0, 0}, {key.where, goal::any, goal::any});
        return;
    }
    of_source(key.source);
    of_source(goal::any);
}

/// The group of the pending ops that a blocked op would match.
auto WaitForGraph::group_matched_by(const goal::Op& blocked) -> std::optional<Group> {
    switch (blocked.kind) {
        case goal::OpKind::send:
            return Group::receives;
        case goal::OpKind::recv:
            return Group::sends;
        case goal::OpKind::put:
            return blocked.tag == goal::no_notification ? std::nullopt : std::optional(Group::awaits);
        case goal::OpKind::unlock:
            return Group::locks;
        default:
            return std::nullopt;
    }
}

/// Adds the set of nodes that a blocked op waits for.
std::uint32_t WaitForGraph::add_set(const BlockedOps& blocked, std::uint32_t cause, std::size_t first) {
    if (cause != BlockedOps::itself) {
        for (const std::uint32_t i : blocked.pending_of(cause)) {
            members_.push_back({node_of_[first + i], static_cast<std::uint32_t>(first + i)});
        }
    }
    const auto begin = members_.begin() + static_cast<std::ptrdiff_t>(set_begin_.back());
    std::sort(begin, members_.end(), [](const Member& a, const Member& b) {
        return a.node != b.node ? a.node < b.node : a.pending < b.pending;
    });
    const auto same_node = [](const Member& a, const Member& b) { return a.node == b.node; };
    members_.erase(std::unique(begin, members_.end(), same_node), members_.end());
    set_begin_.push_back(members_.size());
    endless_.push_back(cause == BlockedOps::itself);
    return static_cast<std::uint32_t>(endless_.size() - 1);
}

void WaitForGraph::add_rank(std::uint32_t rank, const goal::RankSchedule& rank_schedule, const BlockedOps& blocked,
                            std::size_t first) {
    std::unordered_map<std::uint32_t, std::uint32_t> set_of;  // by cause
    for (goal::OpIndex op_index = 0; op_index < rank_schedule.ops.size(); ++op_index) {
        const goal::Op& op = rank_schedule.ops[op_index];
        const std::optional<Group> matched = group_matched_by(op);
        if (!blocked.blocks(op_index) || !matched) {
            continue;
        }
        const Key key = *matched == Group::sends ? Key{rank, op.peer, op.tag} : Key{op.peer, rank, op.tag};
        each_node(*matched, key, [&](NodeNumber number) {
            Node& node = nodes_[number];
            node.has_match = true;
            if (arcs_.size() >= most_arcs || members_.size() >= most_graph_members) {
                truncated_ = true;
                return;
            }
            const auto [set, added] = set_of.try_emplace(blocked.cause(op_index), 0);
            if (added) {
                set->second = add_set(blocked, blocked.cause(op_index), first);
            }
            if (node.last_set != set->second) {
                node.last_set = set->second;
                arcs_.push_back({number, set->second, rank, op_index});
            }
        });
    }
}

void WaitForGraph::solve() {
    std::stable_sort(arcs_.begin(), arcs_.end(), [](const Arc& a, const Arc& b) { return a.from < b.from; });
    first_arc_.assign(nodes_.size() + 1, 0);
    for (const Arc& arc : arcs_) {
        ++first_arc_[arc.from + 1];
    }
    std::partial_sum(first_arc_.begin(), first_arc_.end(), first_arc_.begin());
    if (!truncated_) {
        release();
    }
}

auto WaitForGraph::arcs_of(NodeNumber node) const -> std::span<const Arc> {
    return std::span(arcs_).subspan(first_arc_[node], first_arc_[node + 1] - first_arc_[node]);
}

auto WaitForGraph::sets_by_member() const -> Lists {
    Lists lists{std::vector<std::uint64_t>(nodes_.size() + 1), std::vector<std::uint32_t>(members_.size())};
    for (const Member& member : members_) {
        ++lists.begin[member.node + 1];
    }
    std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
    std::vector<std::uint64_t> next(lists.begin.begin(), lists.begin.end() - 1);
    for (std::uint32_t set = 0; set < endless_.size(); ++set) {
        for (const Member& member : members(set)) {
            lists.entries[next[member.node]++] = set;
        }
    }
    return lists;
}

auto WaitForGraph::nodes_by_set() const -> Lists {
    Lists lists{std::vector<std::uint64_t>(endless_.size() + 1), std::vector<std::uint32_t>(arcs_.size())};
    for (const Arc& arc : arcs_) {
        ++lists.begin[arc.set + 1];
    }
    std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
    std::vector<std::uint64_t> next(lists.begin.begin(), lists.begin.end() - 1);
    for (const Arc& arc : arcs_) {
        lists.entries[next[arc.set]++] = arc.from;
    }
    return lists;
}

/// Graph reduction: releases the nodes without a potential match, then all nodes that these releases allow to end.
void WaitForGraph::release() {
    const Lists sets = sets_by_member();
    const Lists nodes = nodes_by_set();
    std::vector<std::uint64_t> left(endless_.size());
    std::vector<NodeNumber> released;
    const auto release_one = [&](NodeNumber node) {
        if (!std::exchange(nodes_[node].released, true)) {
            released.push_back(node);
        }
    };
    const auto release_by = [&](std::uint32_t set) {
        for (const NodeNumber node : nodes.of(set)) {
            release_one(node);
        }
    };
    for (NodeNumber node = 0; node < nodes_.size(); ++node) {
        if (!nodes_[node].has_match) {
            release_one(node);
        }
    }
    for (std::uint32_t set = 0; set < endless_.size(); ++set) {
        left[set] = members(set).size() + (endless_[set] ? 1 : 0);
        if (left[set] == 0) {
            release_by(set);
        }
    }
    while (!released.empty()) {
        const NodeNumber node = released.back();
        released.pop_back();
        for (const std::uint32_t set : sets.of(node)) {
            if (--left[set] == 0) {
                release_by(set);
            }
        }
    }
}

auto WaitForGraph::match_of(std::size_t pending) const -> std::optional<PotentialMatch> {
    const auto arcs = arcs_of(node_of_[pending]);
    if (arcs.empty()) {
        return std::nullopt;
    }
    const Arc& arc = arcs.front();
    const auto needed = members(arc.set);
    auto after =
        std::find_if(needed.begin(), needed.end(), [this](const Member& m) { return !nodes_[m.node].released; });
    after = after == needed.end() ? needed.begin() : after;
    return PotentialMatch{arc.rank, arc.op_index, needed.empty() ? none : after->pending, arcs.size() - 1};
}

/// A node for which a stuck one waits, stuck itself; its own number if there is none.
auto WaitForGraph::next_stuck(NodeNumber node) const -> NodeNumber {
    for (const Arc& arc : arcs_of(node)) {
        for (const Member& next : members(arc.set)) {
            if (!nodes_[next.node].released) {
                return next.node;
            }
        }
    }
    return node;
}

/// The nodes of a shortest cycle through one that is in a cycle, which comes first.
auto WaitForGraph::shortest_cycle(NodeNumber through) const -> std::vector<NodeNumber> {
    constexpr NodeNumber unseen = 0xffffffff;
    std::vector<NodeNumber> from(nodes_.size(), unseen);
    std::vector<NodeNumber> queue = {through};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const NodeNumber node = queue[i];
        for (const Arc& arc : arcs_of(node)) {
            for (const Member& member : members(arc.set)) {
                const NodeNumber next = member.node;
                if (nodes_[next].released || from[next] != unseen) {
                    continue;
                }
                from[next] = node;
                if (next != through) {
                    queue.push_back(next);
                    continue;
                }
                std::vector<NodeNumber> cycle = {node};
                while (cycle.back() != through) {
                    cycle.push_back(from[cycle.back()]);
                }
                std::reverse(cycle.begin(), cycle.end());
                return cycle;
            }
        }
    }
    return {};
}

/// The arc from one node to another.
auto WaitForGraph::arc_match(NodeNumber from, NodeNumber to) const -> PotentialMatch {
    const auto arcs = arcs_of(from);
    for (const Arc& arc : arcs) {
        for (const Member& member : members(arc.set)) {
            if (member.node == to) {
                return {arc.rank, arc.op_index, member.pending, arcs.size() - 1};
            }
        }
    }
    throw LogicError("a cycle of waiting has a gap");
}

/// The shortest cycle through `begin`, or through another of the first nodes of its rank.
auto WaitForGraph::shortest_cycle_near(NodeNumber begin, std::vector<NodeNumber> stuck) const
    -> std::vector<NodeNumber> {
    constexpr std::size_t most_tried = 32;
    const auto rank_of = [this](NodeNumber node) { return pending_[nodes_[node].first].rank; };
    std::erase_if(stuck, [&](NodeNumber node) { return node == begin || rank_of(node) != rank_of(begin); });
    std::sort(stuck.begin(), stuck.end(),
              [this](NodeNumber a, NodeNumber b) { return nodes_[a].first < nodes_[b].first; });
    stuck.resize(std::min(stuck.size(), most_tried));
    std::vector<NodeNumber> shortest = shortest_cycle(begin);
    for (const NodeNumber node : stuck) {
        std::vector<NodeNumber> cycle = shortest_cycle(node);
        if (!cycle.empty() && cycle.size() < shortest.size()) {
            shortest = std::move(cycle);
        }
    }
    return shortest;
}

auto WaitForGraph::cycle() const -> std::vector<CycleStep> {
    const auto comes_first = [this](NodeNumber a, NodeNumber b) { return nodes_[a].first < nodes_[b].first; };
    std::vector<NodeNumber> stuck;
    for (NodeNumber node = 0; node < nodes_.size() && !truncated_; ++node) {
        if (!nodes_[node].released) {
            stuck.push_back(node);
        }
    }
    if (stuck.empty()) {
        return {};
    }
    NodeNumber node = *std::min_element(stuck.begin(), stuck.end(), comes_first);
    for (std::vector<bool> seen(nodes_.size()); !seen[node]; node = next_stuck(node)) {
        seen[node] = true;
    }
    NodeNumber begin = node;
    for (NodeNumber next = next_stuck(node); next != node; next = next_stuck(next)) {
        begin = comes_first(next, begin) ? next : begin;
    }
    const std::vector<NodeNumber> nodes = shortest_cycle_near(begin, std::move(stuck));
    std::vector<CycleStep> steps;
    steps.reserve(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        steps.push_back({none, arc_match(nodes[i], nodes[(i + 1) % nodes.size()])});
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
        steps[(i + 1) % steps.size()].pending = steps[i].match.after;
    }
    return steps;
}

}  // namespace idlewave::standstill
