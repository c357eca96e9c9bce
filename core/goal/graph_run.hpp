#pragma once

#include <optional>
#include <string>
#include <vector>

#include "goal/graph.hpp"

/// What a rank of a Graph does when ops start and end: which others become ready, and when.
namespace idlewave {

template <class Moment>
void Graph::begin(std::uint32_t rank, State<Moment>& state, Scratch& /*scratch*/,
                  ReadyOps<Cookie, Moment>& ready) const {
    const RankBlock& own = block(rank);
    state.begin(own.size());
    for (Place place = 0; place < own.size(); ++place) {
        if (own.is_root(place)) {
            state.set_ready(place);
            ready.push_back({.at = Moment{}, .op = own.op(place), .place = place});
        }
    }
}

template <class Moment>
bool Graph::started(std::uint32_t rank, State<Moment>& state, Scratch& /*scratch*/,
                    const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                    ReadyOps<Cookie, Moment>& ready) const {
    return release(rank, state, notice, Edge::start, next, ready);
}

template <class Moment>
bool Graph::ended(std::uint32_t rank, State<Moment>& state, Scratch& /*scratch*/, const Notice<Cookie, Moment>& notice,
                  ReadyOp<Cookie, Moment>& next, ReadyOps<Cookie, Moment>& ready) const {
    return release(rank, state, notice, Edge::end, next, ready);
}

/// One requirement of `place` is met at `now`. Returns when all were met, if this was the last.
template <class Moment>
std::optional<Moment> meet_requirement(const RankBlock& block, Graph::State<Moment>& state, Place place,
                                       const Moment& now) {
    if (!block.joins(place)) {
        return now;
    }
    Join<Moment>* join = state.join(place);
    if (join == nullptr) {
        state.add({.place = place, .left = static_cast<std::uint32_t>(block.requirements(place) - 1), .ready_at = now});
        return std::nullopt;
    }
    join->ready_at = latest(join->ready_at, now);
    if (--join->left > 0) {
        return std::nullopt;
    }
    Moment all_met = join->ready_at;
    state.remove_join(place);
    return all_met;
}

template <class Moment>
bool Graph::release(std::uint32_t rank, State<Moment>& state, const Notice<Cookie, Moment>& notice, Edge edge,
                    ReadyOp<Cookie, Moment>& next, ReadyOps<Cookie, Moment>& ready) const {
    const RankBlock& own = block(rank);
    Followers followers = own.followers(notice.place, edge);
    bool there = false;
    for (Place follower = 0; followers.next(follower);) {
        if (const std::optional<Moment> at = meet_requirement(own, state, follower, notice.time)) {
            state.set_ready(follower);
            if (there) {
                ready.push_back(next);
            }
            next.at = *at;
            own.read(follower, next.op);
            next.place = follower;
            there = true;
        }
    }
    return there;
}

template <class Moment>
void Graph::unfinished(std::uint32_t rank, const State<Moment>& state, std::vector<Waiting>& waiting) const {
    const RankBlock& own = block(rank);
    for (Place place = 0; place < own.size(); ++place) {
        if (state.is_ready(place)) {
            continue;
        }
        const Join<Moment>* join = state.join(place);
        const std::uint64_t left = join != nullptr ? join->left : own.requirements(place);
        waiting.push_back(
            {rank, name(rank, place),
             "waits for " + std::to_string(left) + (left == 1 ? " other op" : " other ops") + " of its rank"});
    }
}

}  // namespace idlewave
