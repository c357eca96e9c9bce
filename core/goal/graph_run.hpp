#pragma once

#include <optional>

#include "goal/graph.hpp"

/// What a rank of a Graph does when ops start and end: which others become ready, and when.
namespace idlewave {

/// What there is to say of a ready op beside the op itself, and when it was; it may bring the send behind it along.
template <class Moment>
[[gnu::always_inline]] inline void Graph::place_ready(const RankBlock& own, Place place, bool with_send,
                                                      State<Moment>& state, ReadyOp<Cookie, Moment>& ready) {
    state.set_ready(place);
    ready.place = place;
    ready.along.to = nobody;
    if (with_send) {
        state.set_ready(place + 1);
        ready.along.to = own.peer(place + 1);
    }
}

/// An op becomes ready at `at`.
template <class Moment>
[[gnu::always_inline]] inline void Graph::make_ready(const RankBlock& own, Place place, const Moment& at,
                                                     State<Moment>& state, ReadyOp<Cookie, Moment>& ready) {
    ready.at = at;
    own.read(place, ready.op);
    place_ready(own, place, own.exchanges(place), state, ready);
}

template <class Moment>
void Graph::begin(std::uint32_t rank, State<Moment>& state, Scratch& /*scratch*/,
                  ReadyOps<Cookie, Moment>& ready) const {
    const RankBlock& own = block(rank);
    state.begin(own.size());
    for (Place place = 0; place < own.size(); ++place) {
        if (own.is_root(place)) {
            make_ready(own, place, Moment{}, state, ready.add());
        }
    }
}

/// Most ops have nobody who waits for their start.
template <class Moment>
[[gnu::always_inline]] inline bool Graph::started(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                                  const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                                  ReadyOps<Cookie, Moment>& ready) const {
    const RankBlock& own = block(rank);
    return own.has_followers(notice.place, Edge::start) &&
           release<Edge::start>(own, state, scratch, notice, next, ready);
}

template <class Moment>
[[gnu::always_inline]] inline bool Graph::ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                                const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                                ReadyOps<Cookie, Moment>& ready) const {
    return release<Edge::end>(block(rank), state, scratch, notice, next, ready);
}

/// One of several requirements of `place` is met at `at`. Returns whether it was the last; then `at` is when all were
/// met. `count` says how many there are.
template <class Moment, class Count>
[[gnu::always_inline]] inline bool meet_requirement(Graph::State<Moment>& state, Place place, Moment& at, Count count) {
    Join<Moment>* join = state.join(place);
    if (join == nullptr) {
        state.add({.place = place, .left = static_cast<std::uint32_t>(count() - 1), .ready_at = at});
        return false;
    }
    join->ready_at = latest(join->ready_at, at);
    if (--join->left > 0) {
        return false;
    }
    at = join->ready_at;
    state.remove_join(place);
    return true;
}

/// What an op's start or end makes ready. Where a rank has its words from one before, it is known who waits for it.
template <Edge edge, class Moment>
[[gnu::always_inline]] inline bool Graph::release(const RankBlock& own, State<Moment>& state, Scratch& scratch,
                                                  const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                                  ReadyOps<Cookie, Moment>& ready) {
    if (!own.has_peers_apart()) {
        return release_all<edge>(own, state, notice, next, ready);
    }
    const KnownFollower& known = scratch.known.of(own, notice.place, edge);
    if (known.count != 1) {
        return known.count > 1 && release_all<edge>(own, state, notice, next, ready);
    }
    next.at = notice.time;
    if (known.requirements > 1 && !meet_requirement(state, known.place, next.at, [&] { return known.requirements; })) {
        return false;
    }
    next.op = known.op;
    next.op.peer = own.peer(known.place);
    place_ready(own, known.place, known.exchanges, state, next);
    return true;
}

template <Edge edge, class Moment>
[[gnu::noinline]] bool Graph::release_all(const RankBlock& own, State<Moment>& state,
                                          const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                          ReadyOps<Cookie, Moment>& ready) {
    Followers followers = own.followers(notice.place, edge);
    bool there = false;
    for (Place follower = 0; followers.next(follower);) {
        Moment at = notice.time;
        if (!own.joins(follower) || meet_requirement(state, follower, at, [&] { return own.requirements(follower); })) {
            if (there) {
                ready.push_back(next);
            }
            make_ready(own, follower, at, state, next);
            there = true;
        }
    }
    return there;
}

template <class Moment>
std::optional<Stand> Graph::stand(std::uint32_t rank, const State<Moment>& state) const {
    const Place ops = size(rank);
    if (state.are_few_and_ready(ops)) {
        return std::nullopt;
    }
    for (Place place = 0; place < ops; ++place) {
        if (!state.is_ready(place)) {
            return Stand{};
        }
    }
    return std::nullopt;
}

}  // namespace idlewave
