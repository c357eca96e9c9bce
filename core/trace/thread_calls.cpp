#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "trace/rank_converter.hpp"
#include "trace/thread_cpus.hpp"

/// How the calls of a rank's threads become programs of their own, and where these wait for each other. Every wait is
/// for something that had happened in the run before, so the run itself is an order in which all can be executed.
namespace idlewave::trace {

void RankConverter::begin_conversions() {
    const std::size_t threads = trace_.threads().size();
    constexpr std::size_t most = 1 << 16;  // whose pairs are ordinals of tags
    if (threads > most) {
        throw InputError(trace_.name() + ": rank " + std::to_string(trace_.header().rank) + " has " +
                         std::to_string(threads) + " threads that call MPI: expected " + std::to_string(most) +
                         " at most");
    }
    threads_.reserve(threads);
    for (std::uint32_t number = 0; number < threads; ++number) {
        threads_.emplace_back(number, options_.cold_caches);
    }
    thread_ = threads_.data();
    if (threads == 1) {
        return;
    }
    choose_cpus();
}

void RankConverter::choose_cpus() {
    const std::vector<ThreadCpu> cpus = cpus_of(trace_.threads());
    for (ThreadConversion& thread : threads_) {
        const ThreadCpu& own = cpus[thread.number];
        if (own.cpu >= most_cpus) {
            throw InputError(trace_.name() + ": rank " + std::to_string(trace_.header().rank) +
                             " has more than 256 threads that call MPI at a time: expected 256 at most, as many as a "
                             "rank of a schedule has CPUs");
        }
        thread.program.cpu = static_cast<std::uint8_t>(own.cpu);
        thread.before = own.before;
    }
}

/// The first call of a thread follows the last call that the first thread had ended before it began, and all calls of
/// the thread that had its CPU before.
void RankConverter::begin_thread(std::uint32_t number) {
    std::vector<std::uint32_t> slots{share(0, number)};
    if (threads_[number].before != 0) {
        slots.push_back(share(threads_[number].before, number));
    }
    ThreadConversion* const caller = std::exchange(thread_, &threads_[number]);
    wait_for_shared(slots);
    thread_ = caller;
}

/// MPI_Finalize follows the last calls of all threads.
void RankConverter::join_threads() {
    std::vector<std::uint32_t> slots;
    for (const ThreadConversion& thread : threads_) {
        if (thread.number != thread_->number) {
            slots.push_back(share(thread.number, thread_->number));
        }
    }
    wait_for_shared(slots);
}

/// A thread signals that it has come so far. Returns the slot of the thread `with` that ends by it.
std::uint32_t RankConverter::share(std::uint32_t thread, std::uint32_t with) {
    collectives::RankProgram& program = threads_[thread].program;
    const auto number = static_cast<std::uint32_t>(program.shared_slots.size());
    const std::uint32_t slot = threads_[with].program.slots++;
    threads_[with].used_once.resize(std::size_t{slot} + 1);
    threads_[with].used_once[slot] = true;
    program.shared_slots.push_back({with, slot});
    program.instructions.push_back(
        {.kind = collectives::Instruction::Kind::signal, .slot = collectives::shared_slot | number});
    return slot;
}

void RankConverter::wait_for_shared(std::span<const std::uint32_t> slots) {
    thread_->program.instructions.push_back({.kind = collectives::Instruction::Kind::wait,
                                             .begin = begin_of(slots),
                                             .count = static_cast<std::uint32_t>(slots.size())});
}

/// The slot of the present thread that ends with what is in a slot of `thread`. If that is another thread, its slot
/// becomes a shared one, and may be used again.
std::uint32_t RankConverter::own_slot(std::uint32_t thread, std::uint32_t slot) {
    if (thread == thread_->number || slot == collectives::no_slot) {
        return slot;
    }
    ThreadConversion& starter = threads_[thread];
    const auto number = static_cast<std::uint32_t>(starter.program.shared_slots.size());
    const std::uint32_t own = thread_->program.slots++;
    thread_->used_once.resize(std::size_t{own} + 1);
    thread_->used_once[own] = true;
    thread_->receives.resize(std::size_t{own} + 1, ThreadConversion::no_receive);
    thread_->receives[own] = starter.receives[slot];
    starter.program.shared_slots.push_back({thread_->number, own});
    collectives::Instruction instruction = starter.program.instructions.at_word(starter.users[slot]);
    instruction.slot = collectives::shared_slot | number;
    starter.program.instructions.replace_word(starter.users[slot], instruction);
    starter.unused_slots.push_back(slot);
    return own;
}

void RankConverter::own_slots(std::uint32_t thread, std::span<std::uint32_t> slots) {
    for (std::uint32_t& slot : slots) {
        slot = own_slot(thread, slot);
    }
}

/// The last instruction has this slot, if it has one.
void RankConverter::note_user(std::uint32_t slot) {
    if ((threads_.size() == 1 && threads_in_search_ == nullptr) || slot == collectives::no_slot) {
        return;
    }
    thread_->users.resize(std::max(thread_->users.size(), std::size_t{slot} + 1));
    thread_->receives.resize(thread_->users.size(), ThreadConversion::no_receive);
    thread_->users[slot] = thread_->program.instructions.last_word();
    thread_->receives[slot] = ThreadConversion::no_receive;
}

/// A message between threads that share its source, destination and tag with others has a tag of its own.
void RankConverter::use_thread(collectives::Instruction& message, const Message& m) {
    if (found_threads_ == nullptr) {
        return;
    }
    const std::uint32_t rank = trace_.header().rank;
    const auto other = m.receive ? found_threads_->sender(rank, receives_) : found_threads_->receiver(rank, sends_);
    if (other) {
        // A receive that names no tag gets that of its message, too.
        const std::uint32_t tag = m.receive ? found_threads_->tag(rank, receives_) : message.tag;
        message.tag = m.receive ? tags_.between_threads(tag, *other, thread_->number)
                                : tags_.between_threads(tag, thread_->number, *other);
    }
    sends_ += m.receive ? 0 : 1;
}

/// Notes the message that was just added, if the trace's messages between threads are sought.
void RankConverter::note_thread(const collectives::Instruction& message, const Message& m) {
    note_user(message.slot);
    if (threads_in_search_ == nullptr) {
        return;
    }
    const std::uint32_t rank = trace_.header().rank;
    if (!m.receive) {
        threads_in_search_->sent(rank, thread_->number, thread_->call_begin, message.peer, message.tag);
        return;
    }
    const std::uint32_t number = receives_ - 1;
    const auto [begin, end] = m.probed.value_or(std::pair(thread_->call_begin, thread_->call_end));
    threads_in_search_->posted(rank, thread_->number, begin, end, message.peer, message.tag);
    if (m.probed || message.blocking) {
        threads_in_search_->received(rank, number, end);
    }
    if (message.slot != collectives::no_slot) {
        thread_->receives[message.slot] = number;
    }
}

/// Says which of the awaited receives are complete at the end of the call.
void RankConverter::note_complete(std::span<const std::uint32_t> slots) {
    if (threads_in_search_ == nullptr) {
        return;
    }
    for (const std::uint32_t slot : slots) {
        if (slot < thread_->receives.size() && thread_->receives[slot] != ThreadConversion::no_receive) {
            threads_in_search_->received(trace_.header().rank, thread_->receives[slot], thread_->call_end);
        }
    }
}

/// Counts a collective. Returns how many the other threads have begun on the communicator: tags count all of a rank.
std::uint32_t RankConverter::count_collective(std::uint32_t communicator, std::uint32_t ordinal) {
    if (threads_.size() == 1) {
        return 0;
    }
    const std::uint32_t all = collectives_begun_[{communicator, ordinal}]++;
    return (all - thread_->collectives_begun[{communicator, ordinal}]++) % collectives::CollectiveSite::tags;
}

}  // namespace idlewave::trace
