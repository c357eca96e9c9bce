#pragma once

#include <optional>

#include "goal/graph.hpp"

/// Dependency resolution in a Graph: which ops become ready, and when, as ops start and end.
namespace idlewave::goal {

/// Marks an op as ready and fills the members of `ready` other than `op` and `at`. The send of an exchange becomes
/// ready with its receive.
template <class Moment>
[[gnu::always_inline]] inline void Graph::mark_ready(const RankBlock& own, OpIndex op_index, bool is_exchange,
                                                     State<Moment>& state, ReadyOp<Cookie, Moment>& ready) {
    state.set_ready(op_index);
    ready.op_index = op_index;
    ready.exchange.send_to = no_rank;
    if (is_exchange) {
        state.set_ready(op_index + 1);
        ready.exchange.send_to = own.peer(op_index + 1);
    }
}

/// Makes an op ready at `at`.
template <class Moment>
[[gnu::always_inline]] inline void Graph::make_ready(const RankBlock& own, OpIndex op_index, const Moment& at,
                                                     State<Moment>& state, ReadyOp<Cookie, Moment>& ready) {
    ready.at = at;
    own.read(op_index, ready.op);
    mark_ready(own, op_index, own.is_exchange(op_index), state, ready);
}

template <class Moment>
void Graph::begin(std::uint32_t rank, State<Moment>& state, Scratch& /*scratch*/,
                  ReadyOps<Cookie, Moment>& ready) const {
    const RankBlock& own = block(rank);
    state.begin(own.size());
    for (OpIndex op_index = 0; op_index < own.size(); ++op_index) {
        if (own.is_root(op_index)) {
            make_ready(own, op_index, Moment{}, state, ready.add());
        }
    }
}

/// Most ops have no successor that requires their start.
template <class Moment>
[[gnu::always_inline]] inline bool Graph::started(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                                  const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                                  ReadyOps<Cookie, Moment>& ready) const {
    const RankBlock& own = block(rank);
    return own.has_successors(notice.op_index, Edge::start) &&
           release<Edge::start>(own, state, scratch, notice, next, ready);
}

template <class Moment>
[[gnu::always_inline]] inline bool Graph::ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                                const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                                ReadyOps<Cookie, Moment>& ready) const {
    return release<Edge::end>(block(rank), state, scratch, notice, next, ready);
}

/// Meets one of several requirements of an op at `at`. Returns whether it was the last one; `at` is then the time at
/// which all are met. `count` returns the number of requirements.
template <class Moment, class Count>
[[gnu::always_inline]] inline bool meet_requirement(Graph::State<Moment>& state, OpIndex op_index, Moment& at,
                                                    Count count) {
    PartlyReadyOp<Moment>* partly_ready = state.partly_ready(op_index);
    if (partly_ready == nullptr) {
        state.add({.op_index = op_index, .left = static_cast<std::uint32_t>(count() - 1), .ready_at = at});
        return false;
    }
    partly_ready->ready_at = latest(partly_ready->ready_at, at);
    if (--partly_ready->left > 0) {
        return false;
    }
    at = partly_ready->ready_at;
    state.remove_partly_ready(op_index);
    return true;
}

/// Finds the ops that become ready by the start or the end of an op. Ranks that share their words share the cache of
/// successors, too.
template <Edge edge, class Moment>
[[gnu::always_inline]] inline bool Graph::release(const RankBlock& own, State<Moment>& state, Scratch& scratch,
                                                  const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                                  ReadyOps<Cookie, Moment>& ready) {
    if (!own.has_own_peers()) {
        return release_all<edge>(own, state, notice, next, ready);
    }
    const CachedSuccessor& known = scratch.successors.of(own, notice.op_index, edge);
    if (known.count != 1) {
        return known.count > 1 && release_all<edge>(own, state, notice, next, ready);
    }
    next.at = notice.time;
    if (known.requirements > 1 &&
        !meet_requirement(state, known.op_index, next.at, [&] { return known.requirements; })) {
        return false;
    }
    next.op = known.op;
    next.op.peer = own.peer(known.op_index);
    mark_ready(own, known.op_index, known.is_exchange, state, next);
    return true;
}

template <Edge edge, class Moment>
[[gnu::noinline]] bool Graph::release_all(const RankBlock& own, State<Moment>& state,
                                          const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                          ReadyOps<Cookie, Moment>& ready) {
    Successors successors = own.successors(notice.op_index, edge);
    bool there = false;
    for (OpIndex successor = 0; successors.next(successor);) {
        Moment at = notice.time;
        if (!own.has_several_requirements(successor) ||
            meet_requirement(state, successor, at, [&] { return own.requirements(successor); })) {
            if (there) {
                ready.push_back(next);
            }
            make_ready(own, successor, at, state, next);
            there = true;
        }
    }
    return there;
}

template <class Moment>
std::optional<StopPosition> Graph::stop_position(std::uint32_t rank, const State<Moment>& state) const {
    const OpIndex ops = size(rank);
    if (state.are_few_and_ready(ops)) {
        return std::nullopt;
    }
    for (OpIndex op_index = 0; op_index < ops; ++op_index) {
        if (!state.is_ready(op_index)) {
            return StopPosition{};
        }
    }
    return std::nullopt;
}

}  // namespace idlewave::goal
