#include "goal/graph.hpp"

#include <algorithm>
#include <utility>

namespace idlewave {

std::span<const Place> Graph::followers(std::uint32_t rank, Place place, Edge edge) const {
    const std::size_t list = 2 * (first_op_[rank] + place) + (edge == Edge::end ? 1 : 0);
    return std::span(followers_).subspan(first_follower_[list], first_follower_[list + 1] - first_follower_[list]);
}

std::string_view Graph::label(std::uint32_t rank, Place place) const {
    return label_text_.c_str() + label_begin_[first_op_[rank] + place];
}

void Graph::begin(std::uint32_t rank, State& state, Scratch& /*scratch*/, std::vector<ReadyOp<Cookie>>& ready) const {
    const auto own = ops(rank);
    const auto first = requirements_.begin() + static_cast<std::ptrdiff_t>(first_op_[rank]);
    state.waits.assign(first, first + static_cast<std::ptrdiff_t>(own.size()));
    state.ready_at.assign(own.size(), 0);
    for (Place place = 0; place < own.size(); ++place) {
        if (state.waits[place] == 0) {
            ready.push_back({.at = 0, .op = own[place], .place = place});
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

void Graph::release(std::uint32_t rank, State& state, const Notice<Cookie>& notice, Edge edge,
                    std::vector<ReadyOp<Cookie>>& ready) const {
    for (const Place follower : followers(rank, notice.place, edge)) {
        state.ready_at[follower] = std::max(state.ready_at[follower], notice.time);
        if (--state.waits[follower] == 0) {
            ready.push_back({.at = state.ready_at[follower], .op = ops(rank)[follower], .place = follower});
        }
    }
}

std::string Graph::name(std::uint32_t rank, Place place) const {
    const std::string_view text = label(rank, place);
    return text.empty() ? "op " + std::to_string(place) : std::string(text);
}

void Graph::unfinished(std::uint32_t rank, const State& state, std::vector<Waiting>& waiting) const {
    for (Place place = 0; place < state.waits.size(); ++place) {
        if (state.waits[place] == 0) {
            continue;
        }
        const std::uint32_t left = state.waits[place];
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
    const Place place = size();
    graph_.ops_.push_back(op);
    graph_.requirements_.push_back(0);
    if (graph_.label_text_.empty()) {
        graph_.label_text_.push_back('\0');
    }
    if (label.empty()) {
        graph_.label_begin_.push_back(0);
    } else {
        if (graph_.label_text_.size() + label.size() > 0xfffffff0) {
            throw InputError("the labels of this schedule take more than 4 GB");
        }
        graph_.label_begin_.push_back(static_cast<std::uint32_t>(graph_.label_text_.size()));
        graph_.label_text_.append(label).push_back('\0');
    }
    graph_.cpus_ = std::max(graph_.cpus_, op.cpu + 1U);
    graph_.nics_ = std::max(graph_.nics_, op.nic + 1U);
    return place;
}

void GraphBuilder::require(Place waiting, Place other, Edge edge) {
    requirements_.push_back({other, edge, waiting});
    ++graph_.requirements_[rank_begin_ + waiting];
}

std::string_view GraphBuilder::label(Place place) const {
    return graph_.label_text_.c_str() + graph_.label_begin_[rank_begin_ + place];
}

void GraphBuilder::end_rank() {
    if (!in_rank_) {
        return;
    }
    // Followers keep the order in which they were required.
    std::stable_sort(requirements_.begin(), requirements_.end(), [](const Requirement& a, const Requirement& b) {
        return std::pair(a.other, a.edge) < std::pair(b.other, b.edge);
    });
    auto next = requirements_.begin();
    for (Place place = 0; place < size(); ++place) {
        for (const Edge edge : {Edge::start, Edge::end}) {
            for (; next != requirements_.end() && next->other == place && next->edge == edge; ++next) {
                graph_.followers_.push_back(next->waiting);
            }
            graph_.first_follower_.push_back(graph_.followers_.size());
        }
    }
    requirements_.clear();
    rank_begin_ = graph_.ops_.size();
    graph_.first_op_.push_back(rank_begin_);
    in_rank_ = false;
}

Graph GraphBuilder::finish() {
    end_rank();
    const std::uint32_t ranks = graph_.ranks();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        for (Place place = 0; place < graph_.ops(rank).size(); ++place) {
            const Op& op = graph_.ops(rank)[place];
            if (op.kind == OpKind::calc || op.peer < ranks || (op.kind == OpKind::recv && op.peer == any)) {
                continue;
            }
            throw InputError("rank " + std::to_string(rank) + ", " + graph_.name(rank, place) + ": its peer is rank " +
                             std::to_string(op.peer) + ", expected one below " + std::to_string(ranks));
        }
    }
    return std::move(graph_);
}

}  // namespace idlewave
