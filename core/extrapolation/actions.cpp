#include "extrapolation/actions.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"

namespace idlewave::extrapolation {

using collectives::Instruction;

namespace {

Action::Kind kind_of(const Instruction& message) {
    if (message.kind == Instruction::Kind::recv) {
        return Action::Kind::recv;
    }
    return goal::is_synchronous(message.size) ? Action::Kind::synchronous_send : Action::Kind::send;
}

}  // namespace

RankActions::RankActions(const collectives::RankProgram& program)
    : program_(&program), in_slot_(program.slots), is_awaited_(program.slots, true) {
    std::unordered_multimap<std::uint64_t, std::uint32_t> known;
    const auto number_of = [&](const Message& message) {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // of Fibonacci hashing
        const std::uint64_t hash = ((message.peer * odd ^ message.tag) * odd ^ message.size) * odd;
        const auto [first, last] = known.equal_range(hash);
        const auto found = std::find_if(first, last, [&](const auto& k) { return messages_[k.second] == message; });
        if (found != last) {
            return found->second;
        }
        messages_.push_back(message);
        return known.emplace(hash, static_cast<std::uint32_t>(messages_.size() - 1))->second;
    };
    std::uint64_t ns = 0;
    const auto add = [&](Action::Kind kind, std::uint32_t what, std::uint32_t slot) {
        const bool nonblocking = kind == Action::Kind::collective && slot != collectives::no_slot;
        actions_.push_back({.kind = kind, .nonblocking = nonblocking, .what = what, .ns = std::exchange(ns, 0)});
        if (slot != collectives::no_slot) {
            in_slot_[slot] = static_cast<std::uint32_t>(actions_.size() - 1);
            is_awaited_[slot] = false;
        }
    };
    program.instructions.each([&](const Instruction& instruction) {
        switch (instruction.kind) {
            case Instruction::Kind::calc:
                ns += instruction.size;
                break;
            case Instruction::Kind::send:
            case Instruction::Kind::recv: {
                const Message message{
                    .peer = instruction.peer, .tag = instruction.tag, .size = goal::bytes_of(instruction.size)};
                add(kind_of(instruction), number_of(message), instruction.slot);
                if (instruction.blocking) {
                    awaited_.push_back(static_cast<std::uint32_t>(actions_.size() - 1));
                    waits_.push_back(static_cast<std::uint32_t>(awaited_.size()));
                    add(Action::Kind::wait, static_cast<std::uint32_t>(waits_.size() - 2), collectives::no_slot);
                }
                break;
            }
            case Instruction::Kind::collective:
                add(Action::Kind::collective, instruction.begin, instruction.slot);
                break;
            case Instruction::Kind::wait: {
                const std::span slots = std::span(program.slot_lists).subspan(instruction.begin, instruction.count);
                const std::size_t before = awaited_.size();
                add_wait(slots);
                if (awaited_.size() != before) {
                    add(Action::Kind::wait, static_cast<std::uint32_t>(waits_.size() - 2), collectives::no_slot);
                }
                break;
            }
            case Instruction::Kind::put:
            case Instruction::Kind::get:
            case Instruction::Kind::lock:
            case Instruction::Kind::shared_lock:
            case Instruction::Kind::unlock:
                throw InputError("expected a program without one-sided operations, to continue it by its structure");
            case Instruction::Kind::signal:
                break;  // for other threads of the rank, which a program that is continued does not have
        }
    });
    last_ns_ = ns;
}

/// Adds what is in the slots, unless it was awaited before.
void RankActions::add_wait(std::span<const std::uint32_t> slots) {
    const auto begin = static_cast<std::ptrdiff_t>(awaited_.size());
    for (const std::uint32_t slot : slots) {
        if (!is_awaited_[slot]) {
            is_awaited_[slot] = true;
            awaited_.push_back(in_slot_[slot]);
        }
    }
    std::sort(awaited_.begin() + begin, awaited_.end());
    if (static_cast<std::size_t>(begin) != awaited_.size()) {
        waits_.push_back(static_cast<std::uint32_t>(awaited_.size()));
    }
}

}  // namespace idlewave::extrapolation
