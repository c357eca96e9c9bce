#pragma once

#include <algorithm>
#include <optional>

#include "collectives/call_name.hpp"
#include "collectives/program.hpp"

/// What a rank of a traced program does when ops start and end: it goes through its instructions.
namespace idlewave::collectives {

template <class Moment>
void ProgramSource::begin(std::uint32_t rank, State<Moment>& state, Scratch& /*scratch*/,
                          goal::ReadyOps<Cookie, Moment>& ready) const {
    state.base = rank % base_;
    state.copy = rank / base_;
    state.slots.assign(program_of(state).slots, {});
    run(state, ready);
}

template <class Moment>
auto ProgramSource::thread_of(State<Moment>& state, std::uint32_t cookie) -> Thread<Moment>& {
    const std::uint32_t thread = cookie & collective_flag ? cookie & ~collective_flag : 0;
    return thread == 0 ? state.main : state.nonblocking[thread - 1];
}

template <class Moment>
std::uint16_t ProgramSource::call(std::uint32_t /*rank*/, const State<Moment>& state, const Cookie& cookie) const {
    if ((cookie & collective_flag) == 0) {
        return 0;
    }
    const std::uint32_t index = cookie & ~collective_flag;
    const Thread<Moment>& thread = index == 0 ? state.main : state.nonblocking[index - 1];
    const auto [call, step] = call_of(state.copy, program_of(state).collectives[thread.site]);
    return call_number(step, call);
}

template <class Moment>
bool ProgramSource::started(std::uint32_t /*rank*/, State<Moment>& state, Scratch& /*scratch*/,
                            const goal::Notice<Cookie, Moment>& notice, goal::ReadyOp<Cookie, Moment>& /*next*/,
                            goal::ReadyOps<Cookie, Moment>& ready) const {
    Thread<Moment>& thread = thread_of(state, notice.cookie);
    if (thread.blocked != Blocked::start || thread.awaited != notice.op_index) {
        return false;
    }
    thread.ready_at = latest(thread.ready_at, notice.time);
    if (&thread == &state.main) {
        run(state, ready);
    } else {
        run_nonblocking(state, notice.cookie & ~collective_flag, ready);
    }
    return false;
}

template <class Moment>
bool ProgramSource::ended(std::uint32_t /*rank*/, State<Moment>& state, Scratch& /*scratch*/,
                          const goal::Notice<Cookie, Moment>& notice, goal::ReadyOp<Cookie, Moment>& /*next*/,
                          goal::ReadyOps<Cookie, Moment>& ready) const {
    Thread<Moment>& thread = thread_of(state, notice.cookie);
    const bool of_collective = (notice.cookie & collective_flag) != 0;
    if (!of_collective && notice.cookie != calc_cookie) {
        if (end_slot(state, notice.cookie, notice.time)) {
            run(state, ready);
        }
        return false;
    }
    bool resumes = false;
    if (thread.blocked == Blocked::end && thread.awaited == notice.op_index) {
        thread.ready_at = latest(thread.ready_at, notice.time);
        resumes = true;
    } else {
        thread.last_end = latest(thread.last_end, notice.time);
        resumes = --thread.outstanding == 0 && thread.blocked == Blocked::join;
        thread.ready_at = resumes ? latest(thread.ready_at, thread.last_end) : thread.ready_at;
    }
    if (!resumes) {
        return false;
    }
    if (&thread == &state.main) {
        run(state, ready);
    } else {
        run_nonblocking(state, notice.cookie & ~collective_flag, ready);
    }
    return false;
}

/// Ends the op or collective in `slot`. Returns whether the rank can continue.
template <class Moment>
bool ProgramSource::end_slot(State<Moment>& state, std::uint32_t slot, const Moment& time) {
    state.slots[slot].end = time;
    state.slots[slot].ended = true;
    if (!state.slots[slot].awaited) {
        return false;
    }
    state.slots[slot].awaited = false;
    state.main.ready_at = latest(state.main.ready_at, time);
    return --state.main.outstanding == 0;
}

template <class Moment>
void ProgramSource::run(State<Moment>& state, goal::ReadyOps<Cookie, Moment>& ready) const {
    while (state.main.in_collective ? run_step(state, 0, ready) : run_instruction(state, ready)) {
    }
}

template <class Moment>
void ProgramSource::run_nonblocking(State<Moment>& state, std::uint32_t thread,
                                    goal::ReadyOps<Cookie, Moment>& ready) const {
    while (state.nonblocking[thread - 1].in_collective && run_step(state, thread, ready)) {
    }
    const Thread<Moment>& finished = state.nonblocking[thread - 1];
    if (!finished.in_collective && end_slot(state, finished.slot, finished.ready_at)) {
        run(state, ready);
    }
}

/// Executes one instruction of the rank. False if the rank has to wait.
template <class Moment>
bool ProgramSource::run_instruction(State<Moment>& state, goal::ReadyOps<Cookie, Moment>& ready) const {
    Thread<Moment>& main = state.main;
    const RankProgram& program = program_of(state);
    if (main.at == program.instructions.size()) {
        main.blocked = Blocked::done;
        return false;
    }
    const Instruction& instruction = program.instructions[main.at++];
    switch (instruction.kind) {
        case Instruction::Kind::calc:
            main.blocked = Blocked::end;
            main.awaited = main.next_op_index;
            ready.push_back({main.ready_at, op_of(state.copy, instruction), main.next_op_index++, calc_cookie});
            return false;
        case Instruction::Kind::send:
        case Instruction::Kind::recv:
            state.slots[instruction.slot] = {};
            main.blocked = Blocked::start;
            main.awaited = main.next_op_index;
            ready.push_back({main.ready_at, op_of(state.copy, instruction), main.next_op_index++, instruction.slot});
            return false;
        case Instruction::Kind::wait:
            return wait(state, program, instruction);
        case Instruction::Kind::collective:
            if (instruction.slot != no_slot) {
                begin_nonblocking(state, instruction, ready);
                return true;
            }
            main.in_collective = true;
            main.site = instruction.begin;
            main.step = 0;
            main.outstanding = 0;
            main.last_end = Moment{};
            return true;
    }
    return false;
}

template <class Moment>
bool ProgramSource::wait(State<Moment>& state, const RankProgram& program, const Instruction& instruction) {
    Thread<Moment>& main = state.main;
    main.outstanding = 0;
    for (std::uint32_t i = 0; i < instruction.count; ++i) {
        Slot<Moment>& slot = state.slots[program.slot_lists[instruction.begin + i]];
        if (slot.ended) {
            main.ready_at = latest(main.ready_at, slot.end);
        } else if (!slot.awaited) {
            slot.awaited = true;
            ++main.outstanding;
        }
    }
    main.blocked = Blocked::slots;
    return main.outstanding == 0;
}

/// Executes one step of a collective. False if its thread has to wait, or a nonblocking collective is done.
template <class Moment>
bool ProgramSource::run_step(State<Moment>& state, std::uint32_t thread_index,
                             goal::ReadyOps<Cookie, Moment>& ready) const {
    Thread<Moment>& thread = thread_index == 0 ? state.main : state.nonblocking[thread_index - 1];
    const CollectiveSite& site = program_of(state).collectives[thread.site];
    const auto [call, step_function] = call_of(state.copy, site);
    const Step step = step_function(call, thread.step);
    if (step.kind == Step::Kind::join || step.kind == Step::Kind::done) {
        if (thread.outstanding > 0) {
            thread.blocked = Blocked::join;
            return false;
        }
        thread.ready_at = latest(thread.ready_at, thread.last_end);
        if (step.kind == Step::Kind::done) {
            thread.in_collective = false;
            thread.blocked = Blocked::done;
            return thread_index == 0;
        }
    }
    thread.step = step.after(thread.step);
    if (step.kind != Step::Kind::op) {
        return true;
    }
    const bool calc = step.op_kind == goal::OpKind::calc;
    thread.blocked = calc ? Blocked::end : step.joins ? Blocked::join : Blocked::start;
    thread.outstanding += calc ? 0 : 1;
    thread.awaited = thread.next_op_index;
    ready.push_back(
        {thread.ready_at, op_of(state.copy, site, step.op()), thread.next_op_index++, collective_flag | thread_index});
    return false;
}

/// Starts a nonblocking collective: it gets a thread of its own, and its ops get the next op indices.
template <class Moment>
void ProgramSource::begin_nonblocking(State<Moment>& state, const Instruction& instruction,
                                      goal::ReadyOps<Cookie, Moment>& ready) const {
    const auto unused = std::find_if(state.nonblocking.begin(), state.nonblocking.end(),
                                     [](const Thread<Moment>& t) { return t.blocked == Blocked::done; });
    const auto index = static_cast<std::uint32_t>(unused - state.nonblocking.begin());
    if (unused == state.nonblocking.end()) {
        state.nonblocking.emplace_back();
    }
    state.slots[instruction.slot] = {};
    state.nonblocking[index] = {.in_collective = true,
                                .site = instruction.begin,
                                .next_op_index = state.main.next_op_index,
                                .slot = instruction.slot,
                                .ready_at = state.main.ready_at};
    state.main.next_op_index += count_ops(state.copy, program_of(state).collectives[instruction.begin]);
    // The rank itself is not waiting, so no step resumes it.
    while (state.nonblocking[index].in_collective && run_step(state, index + 1, ready)) {
    }
    const Thread<Moment>& begun = state.nonblocking[index];
    if (!begun.in_collective) {
        state.slots[instruction.slot] = {.end = begun.ready_at, .ended = true};
    }
}

template <class Moment, class Archive>
void ProgramSource::serialise(std::uint32_t /*rank*/, State<Moment>& state, Archive& archive) const {
    archive(state.base);
    archive(state.copy);
    archive(state.main);
    auto nonblocking = static_cast<std::uint32_t>(state.nonblocking.size());
    archive(nonblocking);
    state.nonblocking.resize(nonblocking);
    for (Thread<Moment>& thread : state.nonblocking) {
        archive(thread);
    }
    std::uint32_t slots = state.slots.size();
    archive(slots);
    if constexpr (Archive::is_loading) {
        state.slots.assign(slots, {});
    }
    for (Slot<Moment>& slot : state.slots) {
        archive(slot);
    }
}

template <class Moment>
std::optional<goal::StopPosition> ProgramSource::stop_position(std::uint32_t /*rank*/,
                                                               const State<Moment>& state) const {
    if (state.main.blocked == Blocked::done) {
        return std::nullopt;
    }
    return goal::StopPosition{
        .kind = state.main.in_collective ? goal::StopPosition::Kind::collective : goal::StopPosition::Kind::instruction,
        .at = state.main.at,
        .of = static_cast<std::uint32_t>(program_of(state).instructions.size())};
}

}  // namespace idlewave::collectives
