#include "goal/graph.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace idlewave {

void Graph::begin(std::uint32_t rank, State& state, Scratch& /*scratch*/, std::vector<ReadyOp<Cookie>>& ready) const {
    const RankBlock& own = block(rank);
    state.ready.clear(own.size());
    for (Place place = 0; place < own.size(); ++place) {
        if (own.is_root(place)) {
            state.ready.set(place);
            ready.push_back({.at = 0, .op = own.op(place), .place = place});
        }
    }
}

void Graph::started(std::uint32_t rank, State& state, Scratch& /*scratch*/, const Notice<Cookie>& notice,
                    std::vector<ReadyOp<Cookie>>& ready) const {
    release(rank, state, notice, Edge::start, ready);
}

void Graph::ended(std::uint32_t rank, State& state, Scratch& /*scratch*/, const Notice<Cookie>& notice,
                  std::vector<ReadyOp<Cookie>>& ready) const {
    release(rank, state, notice, Edge::end, ready);
}

namespace {

/// One requirement of `place` is met at `now`. Returns when all were met, if this was the last.
std::optional<Time> meet(const RankBlock& block, Graph::State& state, Place place, Time now) {
    if (!block.joins(place)) {
        return now;
    }
    Graph::Join* join = state.joins.find(place);
    if (join == nullptr) {
        state.joins.add(place, {.left = block.requirements(place) - 1, .ready_at = now});
        return std::nullopt;
    }
    join->ready_at = std::max(join->ready_at, now);
    if (--join->left > 0) {
        return std::nullopt;
    }
    const Time all_met = join->ready_at;
    state.joins.remove(place);
    return all_met;
}

}  // namespace

void Graph::release(std::uint32_t rank, State& state, const Notice<Cookie>& notice, Edge edge,
                    std::vector<ReadyOp<Cookie>>& ready) const {
    const RankBlock& own = block(rank);
    Followers followers = own.followers(notice.place, edge);
    for (Place follower = 0; followers.next(follower);) {
        if (const std::optional<Time> at = meet(own, state, follower, notice.time)) {
            state.ready.set(follower);
            ready.push_back({.at = *at, .op = own.op(follower), .place = follower});
        }
    }
}

std::string Graph::name(std::uint32_t rank, Place place) const {
    const std::string label = block(rank).label(place);
    return label.empty() ? "op " + std::to_string(place) : label;
}

void Graph::unfinished(std::uint32_t rank, const State& state, std::vector<Waiting>& waiting) const {
    const RankBlock& own = block(rank);
    for (Place place = 0; place < own.size(); ++place) {
        if (state.ready.test(place)) {
            continue;
        }
        const Join* join = state.joins.find(place);
        const std::uint64_t left = join != nullptr ? join->left : own.requirements(place);
        waiting.push_back(
            {rank, name(rank, place),
             "waits for " + std::to_string(left) + (left == 1 ? " other op" : " other ops") + " of its rank"});
    }
}

void GraphBuilder::begin_rank() {
    end_rank();
    in_rank_ = true;
}

Place GraphBuilder::add(const Op& op, std::string_view label) {
    rank_.ops.push_back(op);
    rank_.labels.add(label);
    return static_cast<Place>(rank_.ops.size() - 1);
}

void GraphBuilder::require(Place waiting, Place other, Edge edge) {
    rank_.requirements.push_back({waiting, other, edge});
}

void GraphBuilder::append(const Listing& listing) {
    append_checked(encoder_.encode(listing));
}

void GraphBuilder::append_checked(std::span<const std::uint64_t> words) {
    const std::span<std::uint64_t> room = graph_.arena_.take(words.size());
    std::copy(words.begin(), words.end(), room.begin());
    const RankBlock block(room.data());
    const RankBlock::Limits limits = block.limits();
    graph_.cpus_ = std::max(graph_.cpus_, limits.cpu + 1U);
    graph_.nics_ = std::max(graph_.nics_, limits.nic + 1U);
    graph_.op_count_ += block.size();
    highest_peer_ = std::max(highest_peer_, limits.peer);
    graph_.blocks_.push_back(block);
}

void GraphBuilder::end_rank() {
    if (in_rank_) {
        append(rank_);
        rank_.clear();
        in_rank_ = false;
    }
}

Graph GraphBuilder::finish() {
    end_rank();
    if (highest_peer_ >= graph_.ranks()) {
        refuse_peer();
    }
    return std::move(graph_);
}

/// Says which op has no peer, if there is one.
void GraphBuilder::refuse_peer() const {
    for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank) {
        for (Place place = 0; place < graph_.size(rank); ++place) {
            const Op op = graph_.op(rank, place);
            if (op.kind == OpKind::calc || op.peer < graph_.ranks() || (op.kind == OpKind::recv && op.peer == any)) {
                continue;
            }
            throw InputError("rank " + std::to_string(rank) + ", " + graph_.name(rank, place) + ": its peer is rank " +
                             std::to_string(op.peer) + ", expected one below " + std::to_string(graph_.ranks()));
        }
    }
}

}  // namespace idlewave
