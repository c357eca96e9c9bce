#pragma once

#include <optional>

#include "goal/graph.hpp"

/// Dependency resolution in a Graph: which ops become ready, and when, as ops start and end.
namespace idlewave::goal {

/// Makes an op ready at `at`. The send of an exchange becomes ready with its receive.
template <class Moment>
[[gnu::always_inline]] inline void Graph::make_ready(const RankBlock& own, const DecodedOp& decoded, const Moment& at,
                                                     State<Moment>& state, ReadyOp<Cookie, Moment>& ready) {
    const Op& op = decoded.op;
    ready.at = at;
    ready.op.size = decoded.is_short_calc ? own.calc_size(decoded.op_index) : op.size;
    ready.op.peer = op.kind == OpKind::calc ? 0 : own.peer(decoded.op_index);
    ready.op.tag = op.tag;
    ready.op.kind = op.kind;
    ready.op.cpu = op.cpu;
    ready.op.nic = op.nic;
    ready.op.reduction = false;
    ready.op.start_has_successors = op.start_has_successors;
    ready.op.end_has_successors = op.end_has_successors;
    ready.op_index = decoded.op_index;
    ready.exchange.send_to = decoded.is_exchange ? own.peer(decoded.op_index + 1) : no_rank;
    state.add_ready(decoded.op_index, decoded.is_exchange ? 2 : 1);
}

/// Many ops may be ready at the beginning. They would all be requests at once if the next root (RankBlock) did not
/// become known only when the one before it starts.
template <class Moment>
void Graph::begin(std::uint32_t rank, State<Moment>& state, Scratch& scratch, ReadyOps<Cookie, Moment>& ready) const {
    const RankBlock& own = block(rank);
    state.begin();
    for (OpIndex op_index = 0; op_index < own.size(); ++op_index) {
        if (own.is_root(op_index) && !own.is_next_root(op_index)) {
            make_ready(own, scratch.ops.with_op(own, op_index), Moment{}, state, ready.add());
        }
    }
}

template <class Moment>
[[gnu::always_inline]] inline bool Graph::started(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                                  const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                                  ReadyOps<Cookie, Moment>& ready) const {
    const RankBlock& own = block(rank);
    const OpIndex next_root =
        own.is_root(notice.op_index) ? scratch.ops.with_op(own, notice.op_index).next_root : RankBlock::no_op;
    if (next_root == RankBlock::no_op) [[likely]] {
        return release<Edge::start>(own, state, scratch, notice, next, ready);
    }
    if (release<Edge::start>(own, state, scratch, notice, next, ready)) {
        ready.push_back(next);
    }
    make_ready(own, scratch.ops.with_op(own, next_root), Moment{}, state, next);
    return true;
}

template <class Moment>
[[gnu::always_inline]] inline bool Graph::ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                                const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                                ReadyOps<Cookie, Moment>& ready) const {
    return release<Edge::end>(block(rank), state, scratch, notice, next, ready);
}

/// Meets a requirement of an op at `at`. Returns whether it was the last one; `at` is then the time at which all are
/// met. `requirements` counts all of them; an op that is partly ready need not be decoded.
template <class Moment, class Count>
[[gnu::always_inline]] inline bool Graph::meet_requirement(const RankBlock& own, OpIndex op_index, Count requirements,
                                                           State<Moment>& state, Moment& at) {
    if (!own.requires_several(op_index)) {
        return true;
    }
    PartlyReadyOp<Moment>* const partly_ready = state.partly_ready(op_index);
    if (partly_ready == nullptr) {
        state.add({.op_index = op_index, .left = requirements() - 1, .ready_at = at});
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

/// Finds the ops that become ready by the start or the end of an op: the last is in `next`, the others in `ready`.
template <Edge edge, class Moment>
[[gnu::always_inline]] inline bool Graph::release(const RankBlock& own, State<Moment>& state, Scratch& scratch,
                                                  const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                                  ReadyOps<Cookie, Moment>& ready) {
    if (!own.lists_successors(notice.op_index, edge)) {
        return own.next_requires(notice.op_index, edge) && release_next(own, state, scratch, notice, next);
    }
    const DecodedOp& op = scratch.ops.with_links(own, notice.op_index);
    if (op.has_many) [[unlikely]] {
        return release_many<edge>(own, state, scratch, notice, next, ready);
    }
    bool there = false;
    for (const OpIndex op_index : op.waiting_for(edge)) {
        Moment at = notice.time;
        const auto requirements = [&] { return scratch.ops.with_links_after(own, op_index, op).requirements; };
        if (meet_requirement(own, op_index, requirements, state, at)) {
            if (there) {
                ready.push_back(next);
            }
            make_ready(own, scratch.ops.with_op_after(own, op_index, op), at, state, next);
            there = true;
        }
    }
    return there;
}

/// The same of an op that only the next one waits for.
template <class Moment>
[[gnu::always_inline]] inline bool Graph::release_next(const RankBlock& own, State<Moment>& state, Scratch& scratch,
                                                       const Notice<Cookie, Moment>& notice,
                                                       ReadyOp<Cookie, Moment>& next) {
    const OpIndex op_index = notice.op_index + 1;
    Moment at = notice.time;
    const auto requirements = [&] { return scratch.ops.with_links(own, op_index).requirements; };
    if (!meet_requirement(own, op_index, requirements, state, at)) {
        return false;
    }
    make_ready(own, scratch.ops.with_op(own, op_index), at, state, next);
    return true;
}

/// The same of an op that has more successors than a DecodedOp holds.
template <Edge edge, class Moment>
[[gnu::noinline]] bool Graph::release_many(const RankBlock& own, State<Moment>& state, Scratch& scratch,
                                           const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                           ReadyOps<Cookie, Moment>& ready) {
    Successors successors = own.successors(notice.op_index, edge);
    bool there = false;
    for (OpIndex op_index = 0; successors.next(op_index);) {
        Moment at = notice.time;
        const auto requirements = [&] { return scratch.ops.with_links(own, op_index).requirements; };
        if (meet_requirement(own, op_index, requirements, state, at)) {
            if (there) {
                ready.push_back(next);
            }
            make_ready(own, scratch.ops.with_op(own, op_index), at, state, next);
            there = true;
        }
    }
    return there;
}

template <class Moment>
std::optional<StopPosition> Graph::stop_position(std::uint32_t rank, const State<Moment>& state) const {
    return state.ready() == size(rank) ? std::nullopt : std::optional(StopPosition{});
}

}  // namespace idlewave::goal
