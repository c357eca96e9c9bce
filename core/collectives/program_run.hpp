#pragma once

#include <algorithm>
#include <optional>

#include "collectives/call_name.hpp"
#include "collectives/program.hpp"

/// What a rank of a traced program does when ops start and end: it goes through its instructions.
namespace idlewave {

template <class Moment>
void ProgramSource::begin(std::uint32_t rank, State<Moment>& state, Scratch& /*scratch*/,
                          ReadyOps<Cookie, Moment>& ready) const {
    state.base = rank % base_;
    state.copy = rank / base_;
    state.slots.assign(program_of(state).slots, {});
    run(state, ready);
}

template <class Moment>
auto ProgramSource::thread_of(State<Moment>& state, std::uint32_t cookie) -> Thread<Moment>& {
    const std::uint32_t thread = cookie & collective_flag ? cookie & ~collective_flag : 0;
    return thread == 0 ? state.main : state.beside[thread - 1];
}

template <class Moment>
std::uint16_t ProgramSource::call(std::uint32_t /*rank*/, const State<Moment>& state, const Cookie& cookie) const {
    if ((cookie & collective_flag) == 0) {
        return 0;
    }
    const std::uint32_t index = cookie & ~collective_flag;
    const Thread<Moment>& thread = index == 0 ? state.main : state.beside[index - 1];
    return call_number(program_of(state).collectives[thread.site].step);
}

template <class Moment>
bool ProgramSource::started(std::uint32_t /*rank*/, State<Moment>& state, Scratch& /*scratch*/,
                            const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& /*next*/,
                            ReadyOps<Cookie, Moment>& ready) const {
    Thread<Moment>& thread = thread_of(state, notice.cookie);
    if (thread.blocked != Blocked::start || thread.awaited != notice.place) {
        return false;
    }
    thread.gate = latest(thread.gate, notice.time);
    if (&thread == &state.main) {
        run(state, ready);
    } else {
        run_beside(state, notice.cookie & ~collective_flag, ready);
    }
    return false;
}

template <class Moment>
bool ProgramSource::ended(std::uint32_t /*rank*/, State<Moment>& state, Scratch& /*scratch*/,
                          const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& /*next*/,
                          ReadyOps<Cookie, Moment>& ready) const {
    Thread<Moment>& thread = thread_of(state, notice.cookie);
    const bool of_collective = (notice.cookie & collective_flag) != 0;
    if (!of_collective && notice.cookie != calc_cookie) {
        if (end_slot(state, notice.cookie, notice.time)) {
            run(state, ready);
        }
        return false;
    }
    bool goes_on = false;
    if (thread.blocked == Blocked::end && thread.awaited == notice.place) {
        thread.gate = latest(thread.gate, notice.time);
        goes_on = true;
    } else {
        thread.last_end = latest(thread.last_end, notice.time);
        goes_on = --thread.open == 0 && thread.blocked == Blocked::join;
        thread.gate = goes_on ? latest(thread.gate, thread.last_end) : thread.gate;
    }
    if (!goes_on) {
        return false;
    }
    if (&thread == &state.main) {
        run(state, ready);
    } else {
        run_beside(state, notice.cookie & ~collective_flag, ready);
    }
    return false;
}

/// What is in `slot` has ended. True if this lets the rank go on.
template <class Moment>
bool ProgramSource::end_slot(State<Moment>& state, std::uint32_t slot, const Moment& time) {
    state.slots[slot].end = time;
    state.slots[slot].ended = true;
    if (!state.slots[slot].awaited) {
        return false;
    }
    state.slots[slot].awaited = false;
    state.main.gate = latest(state.main.gate, time);
    return --state.main.open == 0;
}

template <class Moment>
void ProgramSource::run(State<Moment>& state, ReadyOps<Cookie, Moment>& ready) const {
    while (state.main.in_collective ? run_step(state, 0, ready) : run_instruction(state, ready)) {
    }
}

template <class Moment>
void ProgramSource::run_beside(State<Moment>& state, std::uint32_t thread, ReadyOps<Cookie, Moment>& ready) const {
    while (state.beside[thread - 1].in_collective && run_step(state, thread, ready)) {
    }
    const Thread<Moment>& finished = state.beside[thread - 1];
    if (!finished.in_collective && end_slot(state, finished.slot, finished.gate)) {
        run(state, ready);
    }
}

/// One instruction of the rank. False if it has to wait.
template <class Moment>
bool ProgramSource::run_instruction(State<Moment>& state, ReadyOps<Cookie, Moment>& ready) const {
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
            main.awaited = main.next_place;
            ready.push_back({main.gate, op_of(state.copy, instruction), main.next_place++, calc_cookie});
            return false;
        case Instruction::Kind::send:
        case Instruction::Kind::recv:
            state.slots[instruction.slot] = {};
            main.blocked = Blocked::start;
            main.awaited = main.next_place;
            ready.push_back({main.gate, op_of(state.copy, instruction), main.next_place++, instruction.slot});
            return false;
        case Instruction::Kind::wait:
            return wait(state, program, instruction);
        case Instruction::Kind::collective:
            if (instruction.slot != no_slot) {
                begin_beside(state, instruction, ready);
                return true;
            }
            main.in_collective = true;
            main.site = instruction.begin;
            main.step = 0;
            main.open = 0;
            main.last_end = Moment{};
            return true;
    }
    return false;
}

template <class Moment>
bool ProgramSource::wait(State<Moment>& state, const RankProgram& program, const Instruction& instruction) {
    Thread<Moment>& main = state.main;
    main.open = 0;
    for (std::uint32_t i = 0; i < instruction.count; ++i) {
        Slot<Moment>& slot = state.slots[program.slot_lists[instruction.begin + i]];
        if (slot.ended) {
            main.gate = latest(main.gate, slot.end);
        } else if (!slot.awaited) {
            slot.awaited = true;
            ++main.open;
        }
    }
    main.blocked = Blocked::slots;
    return main.open == 0;
}

/// One step of a collective. False if its thread has to wait, or the collective is done beside the rank.
template <class Moment>
bool ProgramSource::run_step(State<Moment>& state, std::uint32_t thread_index, ReadyOps<Cookie, Moment>& ready) const {
    Thread<Moment>& thread = thread_index == 0 ? state.main : state.beside[thread_index - 1];
    const CollectiveSite& site = program_of(state).collectives[thread.site];
    const Step step = site.step(call_of(state.copy, site), thread.step);
    if (step.kind == Step::Kind::join || step.kind == Step::Kind::done) {
        if (thread.open > 0) {
            thread.blocked = Blocked::join;
            return false;
        }
        thread.gate = latest(thread.gate, thread.last_end);
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
    const bool calc = step.op_kind == OpKind::calc;
    thread.blocked = calc ? Blocked::end : step.joins ? Blocked::join : Blocked::start;
    thread.open += calc ? 0 : 1;
    thread.awaited = thread.next_place;
    ready.push_back(
        {thread.gate, op_of(state.copy, site, step.op()), thread.next_place++, collective_flag | thread_index});
    return false;
}

/// Start a nonblocking collective: it runs in a thread of its own, and its ops have the next places.
template <class Moment>
void ProgramSource::begin_beside(State<Moment>& state, const Instruction& instruction,
                                 ReadyOps<Cookie, Moment>& ready) const {
    const auto unused = std::find_if(state.beside.begin(), state.beside.end(),
                                     [](const Thread<Moment>& t) { return t.blocked == Blocked::done; });
    const auto index = static_cast<std::uint32_t>(unused - state.beside.begin());
    if (unused == state.beside.end()) {
        state.beside.emplace_back();
    }
    state.slots[instruction.slot] = {};
    state.beside[index] = {.in_collective = true,
                           .site = instruction.begin,
                           .next_place = state.main.next_place,
                           .slot = instruction.slot,
                           .gate = state.main.gate};
    state.main.next_place += count_ops(state.copy, program_of(state).collectives[instruction.begin]);
    // The rank itself is not waiting, so nothing else runs from within.
    while (state.beside[index].in_collective && run_step(state, index + 1, ready)) {
    }
    const Thread<Moment>& begun = state.beside[index];
    if (!begun.in_collective) {
        state.slots[instruction.slot] = {.end = begun.gate, .ended = true};
    }
}

template <class Moment, class Archive>
void ProgramSource::keep(std::uint32_t /*rank*/, State<Moment>& state, Archive& archive) const {
    archive(state.base);
    archive(state.copy);
    archive(state.main);
    auto beside = static_cast<std::uint32_t>(state.beside.size());
    archive(beside);
    state.beside.resize(beside);
    for (Thread<Moment>& thread : state.beside) {
        archive(thread);
    }
    std::uint32_t slots = state.slots.size();
    archive(slots);
    if constexpr (Archive::loads) {
        state.slots.assign(slots, {});
    }
    for (Slot<Moment>& slot : state.slots) {
        archive(slot);
    }
}

template <class Moment>
std::optional<Stand> ProgramSource::stand(std::uint32_t /*rank*/, const State<Moment>& state) const {
    if (state.main.blocked == Blocked::done) {
        return std::nullopt;
    }
    return Stand{.kind = state.main.in_collective ? Stand::Kind::collective : Stand::Kind::instruction,
                 .at = state.main.at,
                 .of = static_cast<std::uint32_t>(program_of(state).instructions.size())};
}

}  // namespace idlewave
