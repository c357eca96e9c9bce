#include "collectives/program.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace idlewave {
namespace {

// A cookie says whose op it is: a slot of the rank itself, its computation, or a collective's. A collective's carries
// the thread that it runs in: 0 is the rank itself, i + 1 is beside[i].
constexpr std::uint32_t collective_flag = 0x80000000;
constexpr std::uint32_t calc_cookie = 0x7fffffff;

}  // namespace

ProgramSource::ProgramSource(std::shared_ptr<const Program> program, std::uint32_t copies)
    : program_(std::move(program)), base_(static_cast<std::uint32_t>(program_->ranks.size())), copies_(copies) {
    const std::uint64_t total = std::uint64_t{base_} * copies_;
    if (total == 0 || total > std::numeric_limits<std::uint32_t>::max() - 1) {
        throw InputError("a schedule of " + std::to_string(total) + " ranks: expected 1 to 4294967294");
    }
}

CollectiveCall ProgramSource::call_of(std::uint32_t copy, const CollectiveSite& site) const {
    const auto members = static_cast<std::uint32_t>(program_->communicators[site.communicator].size());
    CollectiveCall call{.rank = site.rank,
                        .size = members,
                        .root = site.root,
                        .bytes = site.bytes,
                        .send_counts = site.send_counts,
                        .recv_counts = site.recv_counts,
                        .reduction_cost = program_->reduction_cost};
    if (members == base_) {
        call.rank += copy * members;
        call.size *= copies_;
    }
    return call;
}

/// An op of a collective: its peer becomes a world rank.
Op ProgramSource::op_of(std::uint32_t copy, const CollectiveSite& site, const Op& op) const {
    Op result = op;
    if (op.kind == OpKind::calc) {
        return result;
    }
    const auto& members = program_->communicators[site.communicator];
    const auto size = static_cast<std::uint32_t>(members.size());
    if (size == 1) {
        result.peer = members[0] + (base_ == 1 ? op.peer : copy * base_);
    } else {
        const std::uint32_t peer_copy = size == base_ ? op.peer / size : copy;
        result.peer = members[op.peer % size] + peer_copy * base_;
    }
    result.tag = site.tag;
    return result;
}

Op ProgramSource::op_of(std::uint32_t copy, const Instruction& instruction) const {
    Op op{.size = instruction.size, .kind = OpKind::calc};
    if (instruction.kind == Instruction::Kind::calc) {
        return op;
    }
    op.kind = instruction.kind == Instruction::Kind::send ? OpKind::send : OpKind::recv;
    op.peer = instruction.peer == any ? any : instruction.peer + copy * base_;
    op.tag = instruction.tag;
    return op;
}

Place ProgramSource::count_ops(std::uint32_t copy, const CollectiveSite& site) const {
    const CollectiveCall call = call_of(copy, site);
    Place count = 0;
    for (Step step = site.step(call, 0); step.kind != Step::Kind::done; step = site.step(call, step.next)) {
        count += step.kind == Step::Kind::op ? 1 : 0;
    }
    return count;
}

void ProgramSource::begin(std::uint32_t rank, State& state, Scratch& /*scratch*/,
                          std::vector<ReadyOp<Cookie>>& ready) const {
    state.base = rank % base_;
    state.copy = rank / base_;
    state.slots.assign(program_of(state).slots, {});
    run(state, ready);
}

ProgramSource::Thread& ProgramSource::thread_of(State& state, std::uint32_t cookie) {
    const std::uint32_t thread = cookie & collective_flag ? cookie & ~collective_flag : 0;
    return thread == 0 ? state.main : state.beside[thread - 1];
}

void ProgramSource::started(std::uint32_t /*rank*/, State& state, Scratch& /*scratch*/, const Notice<Cookie>& notice,
                            std::vector<ReadyOp<Cookie>>& ready) const {
    Thread& thread = thread_of(state, notice.cookie);
    if (thread.blocked != Thread::Blocked::start || thread.awaited != notice.place) {
        return;
    }
    thread.gate = std::max(thread.gate, notice.time);
    if (&thread == &state.main) {
        run(state, ready);
    } else {
        run_beside(state, notice.cookie & ~collective_flag, ready);
    }
}

void ProgramSource::ended(std::uint32_t /*rank*/, State& state, Scratch& /*scratch*/, const Notice<Cookie>& notice,
                          std::vector<ReadyOp<Cookie>>& ready) const {
    Thread& thread = thread_of(state, notice.cookie);
    const bool of_collective = (notice.cookie & collective_flag) != 0;
    if (!of_collective && notice.cookie != calc_cookie) {
        if (end_slot(state, notice.cookie, notice.time)) {
            run(state, ready);
        }
        return;
    }
    bool goes_on = false;
    if (thread.blocked == Thread::Blocked::end && thread.awaited == notice.place) {
        thread.gate = std::max(thread.gate, notice.time);
        goes_on = true;
    } else {
        thread.last_end = std::max(thread.last_end, notice.time);
        goes_on = --thread.open == 0 && thread.blocked == Thread::Blocked::join;
        thread.gate = goes_on ? std::max(thread.gate, thread.last_end) : thread.gate;
    }
    if (!goes_on) {
        return;
    }
    if (&thread == &state.main) {
        run(state, ready);
    } else {
        run_beside(state, notice.cookie & ~collective_flag, ready);
    }
}

/// What is in `slot` has ended. True if this lets the rank go on.
bool ProgramSource::end_slot(State& state, std::uint32_t slot, Time time) {
    state.slots[slot].end = time;
    if (!state.slots[slot].awaited) {
        return false;
    }
    state.slots[slot].awaited = false;
    state.main.gate = std::max(state.main.gate, time);
    return --state.main.open == 0;
}

void ProgramSource::run(State& state, std::vector<ReadyOp<Cookie>>& ready) const {
    while (state.main.in_collective ? run_step(state, 0, ready) : run_instruction(state, ready)) {
    }
}

void ProgramSource::run_beside(State& state, std::uint32_t thread, std::vector<ReadyOp<Cookie>>& ready) const {
    while (state.beside[thread - 1].in_collective && run_step(state, thread, ready)) {
    }
    const Thread& finished = state.beside[thread - 1];
    if (!finished.in_collective && end_slot(state, finished.slot, finished.gate)) {
        run(state, ready);
    }
}

/// One instruction of the rank. False if it has to wait.
bool ProgramSource::run_instruction(State& state, std::vector<ReadyOp<Cookie>>& ready) const {
    Thread& main = state.main;
    const RankProgram& program = program_of(state);
    if (main.at == program.instructions.size()) {
        main.blocked = Thread::Blocked::done;
        return false;
    }
    const Instruction& instruction = program.instructions[main.at++];
    switch (instruction.kind) {
        case Instruction::Kind::calc:
            main.blocked = Thread::Blocked::end;
            main.awaited = main.next_place;
            ready.push_back({main.gate, op_of(state.copy, instruction), main.next_place++, calc_cookie});
            return false;
        case Instruction::Kind::send:
        case Instruction::Kind::recv:
            state.slots[instruction.slot] = {};
            main.blocked = Thread::Blocked::start;
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
            main.last_end = 0;
            return true;
    }
    return false;
}

bool ProgramSource::wait(State& state, const RankProgram& program, const Instruction& instruction) {
    Thread& main = state.main;
    main.open = 0;
    for (std::uint32_t i = 0; i < instruction.count; ++i) {
        Slot& slot = state.slots[program.slot_lists[instruction.begin + i]];
        if (slot.end != never) {
            main.gate = std::max(main.gate, slot.end);
        } else if (!slot.awaited) {
            slot.awaited = true;
            ++main.open;
        }
    }
    main.blocked = Thread::Blocked::slots;
    return main.open == 0;
}

/// One step of a collective. False if its thread has to wait, or the collective is done beside the rank.
bool ProgramSource::run_step(State& state, std::uint32_t thread_index, std::vector<ReadyOp<Cookie>>& ready) const {
    Thread& thread = thread_index == 0 ? state.main : state.beside[thread_index - 1];
    const CollectiveSite& site = program_of(state).collectives[thread.site];
    const Step step = site.step(call_of(state.copy, site), thread.step);
    if (step.kind == Step::Kind::join || step.kind == Step::Kind::done) {
        if (thread.open > 0) {
            thread.blocked = Thread::Blocked::join;
            return false;
        }
        thread.gate = std::max(thread.gate, thread.last_end);
        if (step.kind == Step::Kind::done) {
            thread.in_collective = false;
            thread.blocked = Thread::Blocked::done;
            return thread_index == 0;
        }
    }
    thread.step = step.next;
    if (step.kind != Step::Kind::op) {
        return true;
    }
    const bool calc = step.op.kind == OpKind::calc;
    thread.blocked = calc ? Thread::Blocked::end : step.joins ? Thread::Blocked::join : Thread::Blocked::start;
    thread.open += calc ? 0 : 1;
    thread.awaited = thread.next_place;
    ready.push_back(
        {thread.gate, op_of(state.copy, site, step.op), thread.next_place++, collective_flag | thread_index});
    return false;
}

/// Start a nonblocking collective: it runs in a thread of its own, and its ops have the next places.
void ProgramSource::begin_beside(State& state, const Instruction& instruction,
                                 std::vector<ReadyOp<Cookie>>& ready) const {
    const auto unused = std::find_if(state.beside.begin(), state.beside.end(),
                                     [](const Thread& t) { return t.blocked == Thread::Blocked::done; });
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
    const Thread& begun = state.beside[index];
    if (!begun.in_collective) {
        state.slots[instruction.slot].end = begun.gate;
    }
}

std::string ProgramSource::name(std::uint32_t /*rank*/, Place place) {
    return "op " + std::to_string(place);
}

void ProgramSource::unfinished(std::uint32_t rank, const State& state, std::vector<Waiting>& waiting) const {
    if (state.main.blocked == Thread::Blocked::done) {
        return;
    }
    const auto count = program_of(state).instructions.size();
    waiting.push_back({rank, "instruction " + std::to_string(state.main.at) + " of " + std::to_string(count),
                       state.main.in_collective ? "stands in a collective operation" : "cannot go on"});
}

}  // namespace idlewave
