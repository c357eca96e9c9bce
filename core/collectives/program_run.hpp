#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>

#include "collectives/call_name.hpp"
#include "collectives/program.hpp"

/// What a rank of a traced program does when ops start and end: it goes through its instructions.
namespace idlewave::collectives {

template <class Moment>
void ProgramSource::begin(std::uint32_t rank, State<Moment>& state, Scratch& /*scratch*/,
                          goal::ReadyOps<Cookie, Moment>& ready) const {
    std::tie(state.base, state.copy) = base_and_copy(rank);
    state.slots.assign(program_of(state).slots, {});
    state.begun.assign(program_of(state).counters, 0);
    goal::ReadyOp<Cookie, Moment> next;
    if (run(state, next, ready)) {
        ready.push_back(next);
    }
}

template <class Moment>
auto ProgramSource::thread_of(State<Moment>& state, std::uint32_t cookie) -> Thread<Moment>& {
    const std::uint32_t thread = (cookie & collective_flag) != 0 ? cookie & ~collective_flag : 0;
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
                            const goal::Notice<Cookie, Moment>& notice, goal::ReadyOp<Cookie, Moment>& next,
                            goal::ReadyOps<Cookie, Moment>& ready) const {
    Thread<Moment>& thread = thread_of(state, notice.cookie);
    const bool awaited = thread.awaited == notice.op_index;
    if (awaited && notice.cookie == message_cookie) {  // its end resumes the rank
        thread.ready_at = latest(thread.ready_at, notice.time);
        return false;
    }
    if (!awaited || thread.blocked != Blocked::start) {
        return false;
    }
    thread.ready_at = latest(thread.ready_at, notice.time);
    return run_thread(state, notice.cookie, next, ready);
}

/// Always inline: what most ops of a program do at their end is to let the rank itself go on, which is one call then.
template <class Moment>
[[gnu::always_inline]] inline bool ProgramSource::ended(std::uint32_t /*rank*/, State<Moment>& state,
                                                        Scratch& /*scratch*/,
                                                        const goal::Notice<Cookie, Moment>& notice,
                                                        goal::ReadyOp<Cookie, Moment>& next,
                                                        goal::ReadyOps<Cookie, Moment>& ready) const {
    if (!is_in_order(notice.cookie)) {
        return ended_in_collective(state, notice, next, ready);
    }
    return end_in_order(state, notice.cookie, notice.time) && run(state, next, ready);
}

/// An op of a collective has ended.
template <class Moment>
[[gnu::noinline]] bool ProgramSource::ended_in_collective(State<Moment>& state,
                                                          const goal::Notice<Cookie, Moment>& notice,
                                                          goal::ReadyOp<Cookie, Moment>& next,
                                                          goal::ReadyOps<Cookie, Moment>& ready) const {
    Thread<Moment>& thread = thread_of(state, notice.cookie);
    if (thread.blocked == Blocked::end && thread.awaited == notice.op_index) {
        thread.ready_at = latest(thread.ready_at, notice.time);
        return run_thread(state, notice.cookie, next, ready);
    }
    thread.last_end = latest(thread.last_end, notice.time);
    if (--thread.outstanding > 0 || thread.blocked != Blocked::join) {
        return false;
    }
    thread.ready_at = latest(thread.ready_at, thread.last_end);
    return run_thread(state, notice.cookie, next, ready);
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

/// The rank itself goes on. What it does most of the time, a computation or a message, is done here, in a function
/// without a frame.
template <class Moment>
bool ProgramSource::run(State<Moment>& state, goal::ReadyOp<Cookie, Moment>& next,
                        goal::ReadyOps<Cookie, Moment>& ready) const {
    if (state.main.in_collective) {
        return run_on(state, next, ready);
    }
    const Instructions& instructions = program_of(state).instructions;
    if (instructions.is_behind_words(state.position)) {
        return run_on(state, next, ready);
    }
    const std::uint32_t word = instructions.word_at(state.position);
    if (Instructions::has_calc(word, state.position)) {
        const Instructions::Calc calc = instructions.calc_at(state.position);
        Instructions::pass_calc(state.position, calc);
        make_calc_ready(state, calc.ns, next);
        return true;
    }
    const Instruction* const instruction = instructions.instruction_of(word);
    if (instruction == nullptr) {
        return run_on(state, next, ready);
    }
    Instructions::pass_instruction(state.position);
    if (is_communication(instruction->kind) && !instruction->by_rule) {
        make_message_ready(state, *instruction, next);
        return true;
    }
    return run_from(state, *instruction, next, ready);
}

/// The same from an instruction on that is no computation.
template <class Moment>
[[gnu::noinline]] bool ProgramSource::run_from(State<Moment>& state, const Instruction& instruction,
                                               goal::ReadyOp<Cookie, Moment>& next,
                                               goal::ReadyOps<Cookie, Moment>& ready) const {
    const Then then = execute(state, instruction, 0, next, ready);
    return then == Then::goes_on ? run_on(state, next, ready) : then == Then::op_ready;
}

/// The rank itself goes on, whatever comes next.
template <class Moment>
[[gnu::noinline]] bool ProgramSource::run_on(State<Moment>& state, goal::ReadyOp<Cookie, Moment>& next,
                                             goal::ReadyOps<Cookie, Moment>& ready) const {
    Then then = Then::goes_on;
    while (then == Then::goes_on) {
        then = state.main.in_collective ? run_step(state, 0, next) : run_instruction(state, next, ready);
    }
    return then == Then::op_ready;
}

/// The thread of control to which a cookie belongs goes on.
template <class Moment>
bool ProgramSource::run_thread(State<Moment>& state, std::uint32_t cookie, goal::ReadyOp<Cookie, Moment>& next,
                               goal::ReadyOps<Cookie, Moment>& ready) const {
    const std::uint32_t thread = (cookie & collective_flag) != 0 ? cookie & ~collective_flag : 0;
    return thread == 0 ? run(state, next, ready) : run_nonblocking(state, thread, next, ready);
}

template <class Moment>
bool ProgramSource::run_nonblocking(State<Moment>& state, std::uint32_t thread, goal::ReadyOp<Cookie, Moment>& next,
                                    goal::ReadyOps<Cookie, Moment>& ready) const {
    Then then = Then::goes_on;
    while (then == Then::goes_on) {
        then = run_step(state, thread, next);
    }
    const Thread<Moment>& own = state.nonblocking[thread - 1];
    if (own.in_collective) {
        return then == Then::op_ready;
    }
    if (is_shared_slot(own.slot)) [[unlikely]] {
        report_shared(own.slot, own.ready_at, ready);
        return false;
    }
    return end_slot(state, own.slot, own.ready_at) && run(state, next, ready);
}

/// What computations and messages of the rank itself have in common when they become ready.
template <class Moment>
[[gnu::always_inline]] inline void ProgramSource::make_ready(Thread<Moment>& main, std::uint32_t cookie,
                                                             Blocked blocked, goal::ReadyOp<Cookie, Moment>& next) {
    next.at = main.ready_at;
    next.op.cpu = 0;
    next.op.nic = 0;
    next.op.reduction = false;
    next.op.end_has_successors = true;
    next.op.unused = 0;
    next.op_index = main.next_op_index;
    next.cookie = cookie;
    main.blocked = blocked;
    main.awaited = main.next_op_index++;
}

/// Makes a computation of the rank itself ready.
template <class Moment>
[[gnu::always_inline]] inline void ProgramSource::make_calc_ready(State<Moment>& state, std::uint64_t ns,
                                                                  goal::ReadyOp<Cookie, Moment>& next) const {
    next.op.size = ns;
    next.op.peer = 0;
    next.op.tag = 0;
    next.op.kind = goal::OpKind::calc;
    next.op.start_has_successors = false;
    make_ready(state.main, calc_cookie, Blocked::end, next);
}

/// Makes a message of the rank itself ready. Its slot is in use from now on, if it has one.
template <class Moment>
[[gnu::always_inline]] inline void ProgramSource::make_message_ready(State<Moment>& state,
                                                                     const Instruction& instruction,
                                                                     goal::ReadyOp<Cookie, Moment>& next) const {
    next.op.size = instruction.size;
    next.op.peer = peer_of(state.copy, instruction);
    next.op.tag = instruction.tag;
    next.op.kind = op_kind_of(instruction.kind);
    // No op ends before it starts, so the start of one for whose end the rank waits matters only to derivatives.
    next.op.start_has_successors = !instruction.blocking || !std::is_same_v<Moment, Time>;
    if (instruction.blocking) {
        make_ready(state.main, message_cookie, Blocked::end, next);
    } else {
        begin_slot(state, instruction.slot);
        make_ready(state.main, instruction.slot, Blocked::start, next);
    }
}

/// Executes the next instruction of the rank.
template <class Moment>
auto ProgramSource::run_instruction(State<Moment>& state, goal::ReadyOp<Cookie, Moment>& next,
                                    goal::ReadyOps<Cookie, Moment>& ready) const -> Then {
    std::uint64_t ns = 0;
    const Instruction* const instruction = program_of(state).instructions.next(state.position, ns);
    if (instruction == nullptr) {
        state.main.blocked = Blocked::done;
        return Then::waits;
    }
    return execute(state, *instruction, ns, next, ready);
}

/// Executes an instruction; a computation takes `ns` nanoseconds.
template <class Moment>
auto ProgramSource::execute(State<Moment>& state, const Instruction& instruction, std::uint64_t ns,
                            goal::ReadyOp<Cookie, Moment>& next, goal::ReadyOps<Cookie, Moment>& ready) const -> Then {
    Thread<Moment>& main = state.main;
    const RankProgram& program = program_of(state);
    switch (instruction.kind) {
        case Instruction::Kind::calc:
            make_calc_ready(state, ns, next);
            return Then::op_ready;
        case Instruction::Kind::send:
        case Instruction::Kind::recv:
        case Instruction::Kind::put:
        case Instruction::Kind::get:
        case Instruction::Kind::lock:
        case Instruction::Kind::shared_lock:
        case Instruction::Kind::unlock:
            make_message_ready(state, instruction, next);
            return Then::op_ready;
        case Instruction::Kind::wait:
            return wait(state, program, instruction) ? Then::goes_on : Then::waits;
        case Instruction::Kind::collective:
            if (instruction.slot != no_slot) {
                begin_nonblocking(state, instruction, ready);
                return Then::goes_on;
            }
            main.in_collective = true;
            main.site = instruction.begin;
            main.tag = next_tag(program.collectives[main.site], state.begun);
            main.step = 0;
            main.outstanding = 0;
            main.last_end = Moment{};
            return Then::goes_on;
        case Instruction::Kind::signal:
            report_shared(instruction.slot, main.ready_at, ready);
            return Then::goes_on;
    }
    return Then::waits;
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

// ---- program order (goal::ProgramOrderSource)

/// Passes the next computation of the rank to an executor, and then the message behind it. It may do less: a word of
/// the program may have neither.
template <class Moment, class Executor>
[[gnu::always_inline]] inline goal::ProgramStep ProgramSource::execute_next(State<Moment>& state,
                                                                            const RankProgram& program,
                                                                            Executor& executor) const {
    const Instructions& instructions = program.instructions;
    if (instructions.is_behind_words(state.position)) [[unlikely]] {
        return goal::ProgramStep::other;
    }
    const std::uint32_t word = instructions.word_at(state.position);
    if (Instructions::has_calc(word, state.position)) {
        const Instructions::Calc calc = instructions.calc_at(state.position);
        const goal::ProgramStep step = executor.compute(calc.ns, [&state, calc] {
            Instructions::pass_calc(state.position, calc);
            return state.main.next_op_index++;
        });
        if (step != goal::ProgramStep::goes_on) {
            return step;
        }
    }
    const Instruction* const instruction = instructions.instruction_of(word);
    if (instruction == nullptr) [[unlikely]] {
        instructions.pass_word(state.position);
        return goal::ProgramStep::goes_on;
    }
    return execute_in_order(state, program, *instruction, executor);
}

/// The same for an instruction.
template <class Moment, class Executor>
[[gnu::always_inline]] inline goal::ProgramStep ProgramSource::execute_in_order(State<Moment>& state,
                                                                                const RankProgram& program,
                                                                                const Instruction& instruction,
                                                                                Executor& executor) const {
    const bool is_send = instruction.kind == Instruction::Kind::send;
    if (is_send || instruction.kind == Instruction::Kind::recv) [[likely]] {
        const auto message = message_of(state.copy, instruction);
        const auto begin = [&state, &instruction]() __attribute__((always_inline)) {
            Instructions::pass_instruction(state.position);
            if (!instruction.blocking) {
                begin_slot(state, instruction.slot);
            }
            return state.main.next_op_index++;
        };
        return is_send ? executor.send(message, begin) : executor.receive(message, begin);
    }
    if (instruction.kind == Instruction::Kind::wait) {
        Instructions::pass_instruction(state.position);
        return wait(state, program, instruction) ? goal::ProgramStep::goes_on : goal::ProgramStep::waits;
    }
    return goal::ProgramStep::other;
}

/// Ends an op of the rank itself. Returns whether the rank goes on.
template <class Moment>
[[gnu::always_inline]] inline bool ProgramSource::end_in_order(State<Moment>& state, Cookie cookie,
                                                               const Moment& time) {
    if (cookie == calc_cookie || cookie == message_cookie) [[likely]] {
        state.main.ready_at = latest(state.main.ready_at, time);
        return true;
    }
    return end_slot(state, cookie, time);
}

/// Executes one step of a collective. Its thread goes on if the collective of the rank itself is done, and waits if a
/// nonblocking one is.
template <class Moment>
auto ProgramSource::run_step(State<Moment>& state, std::uint32_t thread_index,
                             goal::ReadyOp<Cookie, Moment>& next) const -> Then {
    Thread<Moment>& thread = thread_index == 0 ? state.main : state.nonblocking[thread_index - 1];
    const CollectiveSite& site = program_of(state).collectives[thread.site];
    const auto [call, step_function] = call_of(state.copy, site);
    const Step step = step_function(call, thread.step);
    if (step.kind == Step::Kind::join || step.kind == Step::Kind::done) {
        if (thread.outstanding > 0) {
            thread.blocked = Blocked::join;
            return Then::waits;
        }
        thread.ready_at = latest(thread.ready_at, thread.last_end);
        if (step.kind == Step::Kind::done) {
            thread.in_collective = false;
            thread.blocked = Blocked::done;
            return thread_index == 0 ? Then::goes_on : Then::waits;
        }
    }
    thread.step = step.after(thread.step);
    if (step.kind != Step::Kind::op) {
        return Then::goes_on;
    }
    const bool calc = step.op_kind == goal::OpKind::calc;
    thread.blocked = calc ? Blocked::end : step.joins ? Blocked::join : Blocked::start;
    thread.outstanding += calc ? 0 : 1;
    thread.awaited = thread.next_op_index;
    next.at = thread.ready_at;
    next.op = op_of(state.copy, site, thread.tag, step.op());
    next.op.start_has_successors = thread.blocked == Blocked::start;
    next.op_index = thread.next_op_index++;
    next.cookie = collective_flag | thread_index;
    return Then::op_ready;
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
    begin_slot(state, instruction.slot);
    state.nonblocking[index] = {.in_collective = true,
                                .site = instruction.begin,
                                .tag = next_tag(program_of(state).collectives[instruction.begin], state.begun),
                                .next_op_index = state.main.next_op_index,
                                .slot = instruction.slot,
                                .ready_at = state.main.ready_at};
    state.main.next_op_index += count_ops(state.copy, program_of(state).collectives[instruction.begin]);
    // The rank itself is not waiting, so no step resumes it.
    goal::ReadyOp<Cookie, Moment> next;
    Then then = Then::goes_on;
    while (then == Then::goes_on) {
        then = run_step(state, index + 1, next);
    }
    if (then == Then::op_ready) {
        ready.push_back(next);
    }
    const Thread<Moment>& begun = state.nonblocking[index];
    if (begun.in_collective) {
        return;
    }
    if (is_shared_slot(instruction.slot)) [[unlikely]] {
        report_shared(instruction.slot, begun.ready_at, ready);
    } else {
        state.slots[instruction.slot] = {.end = begun.ready_at, .ended = true};
    }
}

template <class Moment, class Archive>
void ProgramSource::serialise(std::uint32_t /*rank*/, State<Moment>& state, Archive& archive) const {
    archive(state.base);
    archive(state.copy);
    Instructions::Position& position = state.position;
    archive(position.time);
    archive(position.word);
    archive(position.computed);
    archive(position.instructions);
    archive(position.loops.depth);
    for (std::uint32_t i = 0; i < position.loops.depth; ++i) {
        archive(position.loops.loops[i]);
    }
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
    std::uint32_t counters = state.begun.size();
    archive(counters);
    if constexpr (Archive::is_loading) {
        state.begun.assign(counters, 0);
    }
    for (std::uint32_t& begun : state.begun) {
        archive(begun);
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
        .at = state.position.instructions,
        .of = program_of(state).instructions.size()};
}

}  // namespace idlewave::collectives
