#pragma once

#include <memory>
#include <optional>

#include "collectives/program_run.hpp"
#include "collectives/threaded_program.hpp"

/// What the threads of a rank do when ops start and end.
namespace idlewave::collectives {

template <class Moment>
void ThreadedProgramSource::begin(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                  goal::ReadyOps<Cookie, Moment>& ready) const {
    const auto [base, copy] = own_.base_and_copy(rank);
    const std::vector<goal::OpIndex> first = first_ops(base, copy);
    state.count = threads_of(base);
    state.threads = std::make_unique<ProgramSource::State<Moment>[]>(state.count);
    for (std::uint32_t thread = 0; thread < state.count; ++thread) {
        ProgramSource::State<Moment>& own = state.threads[thread];
        own.base = program()->first_threads[base] + thread;
        own.copy = copy;
        own.main.next_op_index = first[thread];
        own.slots.assign(program_of(base, thread).slots, {});
        own.begun.assign(program_of(base, thread).counters, 0);
    }
    for (std::uint32_t thread = state.count; thread > 0; --thread) {
        scratch.resumed.push_back(thread - 1);
    }
    resume(state, scratch, ready);
}

template <class Moment>
bool ThreadedProgramSource::started(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                    const goal::Notice<Cookie, Moment>& notice, goal::ReadyOp<Cookie, Moment>& next,
                                    goal::ReadyOps<Cookie, Moment>& ready) const {
    const std::uint32_t thread = notice.cookie.thread;
    Found<Moment> found;
    FoundOp<Moment> op;
    const bool there = own_.started(rank, state.threads[thread], scratch.own,
                                    {notice.time, notice.op_index, notice.cookie.own}, op, found);
    take(state, scratch, thread, found, ready);
    resume(state, scratch, ready);
    if (there) {
        hand_out(state, thread, op, next);
    }
    return there;
}

template <class Moment>
bool ThreadedProgramSource::ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                  const goal::Notice<Cookie, Moment>& notice, goal::ReadyOp<Cookie, Moment>& next,
                                  goal::ReadyOps<Cookie, Moment>& ready) const {
    const auto [thread, cookie] = notice.cookie;
    if (cookie < ProgramSource::message_cookie && is_shared_slot(cookie)) {
        end_shared(state, scratch, thread, cookie, notice.time);
        resume(state, scratch, ready);
        return false;
    }
    Found<Moment> found;
    FoundOp<Moment> op;
    const bool there =
        own_.ended(rank, state.threads[thread], scratch.own, {notice.time, notice.op_index, cookie}, op, found);
    take(state, scratch, thread, found, ready);
    resume(state, scratch, ready);
    if (there) {
        hand_out(state, thread, op, next);
    }
    return there;
}

/// Hands out an op of a thread as one of the rank.
template <class Moment>
void ThreadedProgramSource::hand_out(const State<Moment>& state, std::uint32_t thread, const FoundOp<Moment>& found,
                                     goal::ReadyOp<Cookie, Moment>& op) const {
    op.op = found.op;
    op.op.cpu = program()->ranks[state.threads[thread].base].cpu;
    op.op_index = found.op_index;
    op.at = found.at;
    op.cookie = {thread, found.cookie};
}

/// Takes what a thread has found ready besides its next op: further ops, and the ends of shared slots.
template <class Moment>
void ThreadedProgramSource::take(State<Moment>& state, Scratch& scratch, std::uint32_t thread,
                                 const Found<Moment>& found, goal::ReadyOps<Cookie, Moment>& ready) const {
    for (const FoundOp<Moment>& op : found) {
        if (op.op_index == goal::unknown_op_index) {
            end_shared(state, scratch, thread, op.cookie, op.at);
        } else {
            goal::ReadyOp<Cookie, Moment> next;
            hand_out(state, thread, op, next);
            ready.push_back(next);
        }
    }
}

template <class Moment>
void ThreadedProgramSource::end_shared(State<Moment>& state, Scratch& scratch, std::uint32_t thread, std::uint32_t slot,
                                       const Moment& time) const {
    const RankProgram& program_of_thread = program()->ranks[state.threads[thread].base];
    const SharedSlot& shared = program_of_thread.shared_slots[slot & ~shared_slot];
    if (ProgramSource::end_slot(state.threads[shared.thread], shared.slot, time)) {
        scratch.resumed.push_back(shared.thread);
    }
}

/// Executes the threads that can go on, and those that can go on by what they do.
template <class Moment>
void ThreadedProgramSource::resume(State<Moment>& state, Scratch& scratch,
                                   goal::ReadyOps<Cookie, Moment>& ready) const {
    while (!scratch.resumed.empty()) {
        const std::uint32_t thread = scratch.resumed.back();
        scratch.resumed.pop_back();
        Found<Moment> found;
        FoundOp<Moment> op;
        const bool there = own_.run(state.threads[thread], op, found);
        take(state, scratch, thread, found, ready);
        if (there) {
            goal::ReadyOp<Cookie, Moment> next;
            hand_out(state, thread, op, next);
            ready.push_back(next);
        }
    }
}

template <class Moment>
std::optional<goal::StopPosition> ThreadedProgramSource::stop_position(std::uint32_t rank,
                                                                       const State<Moment>& state) const {
    for (std::uint32_t thread = 0; thread < state.count; ++thread) {
        if (const auto position = own_.stop_position(rank, state.threads[thread])) {
            return position;
        }
    }
    return std::nullopt;
}

template <class Moment, class Archive>
void ThreadedProgramSource::serialise(std::uint32_t rank, State<Moment>& state, Archive& archive) const {
    archive(state.count);
    if constexpr (Archive::is_loading) {
        state.threads = std::make_unique<ProgramSource::State<Moment>[]>(state.count);
    }
    for (std::uint32_t thread = 0; thread < state.count; ++thread) {
        own_.serialise(rank, state.threads[thread], archive);
    }
}

}  // namespace idlewave::collectives
