#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "trace/rank_converter.hpp"

/// How requests are made persistent, started, and completed, and how a rank waits for them.
namespace idlewave::trace {
namespace {

/// The last request of a handle that a thread started; the last one if it started none.
auto last_of(auto& pending, std::uint32_t thread) {
    const auto rest = pending.requests.rbegin() + static_cast<std::ptrdiff_t>(pending.requests.size() - pending.first);
    const auto own =
        std::find_if(pending.requests.rbegin(), rest, [thread](const auto& one) { return one.thread == thread; });
    return own != rest ? own : pending.requests.rbegin();
}

}  // namespace

void RankConverter::persistent(const TraceRecord& r) {
    if (r.call == Call::mprobe) {
        if (threads_.size() == 1) {
            probed_.erase(r.words[4]);
        }
        probed_.emplace(r.words[4], ProbedMessage{thread_->number,
                                                  {.receive = true,
                                                   .communicator = r.words[0],
                                                   .peer_tag = r.pair(2),
                                                   .bytes = r.number(3),
                                                   .probed = std::pair(r.begin, r.end)}});
        return;
    }
    const bool partitioned = r.call == Call::psend_init || r.call == Call::precv_init;
    const bool receive = r.call == Call::recv_init || r.call == Call::precv_init;
    Message made{.receive = receive,
                 .communicator = r.words[0],
                 .peer_tag = r.pair(1),
                 .bytes = r.number(2),
                 .mode = r.send_mode()};
    if (partitioned) {  // those with the same peer and tag match in the order in which they are made (MPI 4.1, 4.2)
        const std::uint32_t ordinal = ++partitioned_made_[{r.words[0], r.words[1], receive}];
        made.context = {Tags::Context::Space::partitioned, ordinal};
        made.partitions = r.number(4);
    }
    persistent_[r.words[3]] = made;
}

void RankConverter::start(const TraceRecord& r) {
    const std::uint64_t request = r.words[0];
    if (const auto made = persistent_collectives_.find(request); made != persistent_collectives_.end()) {
        const CollectiveInit& init = made->second;
        collective({.call = init.call, .info = init.info, .begin = r.begin, .end = r.end, .words = init.words},
                   init.ordinal);
        return;
    }
    const auto found = persistent_.find(request);
    if (found == persistent_.end()) {
        fail(r, "starts a request that was not made before");
    }
    const Message& m = found->second;
    if (m.partitions > 0 && !m.receive) {
        pending_[request].requests.push_back({.thread = thread_->number});
    } else {
        nonblocking(r, m, request);
    }
    if (m.partitions > 0) {
        partitions_[request] = {.left = m.partitions};
    }
}

/// A partitioned message is sent as a whole when its last partition is ready.
void RankConverter::partitions_ready(const TraceRecord& r) {
    const auto found = pending_.find(r.words[0]);
    const auto made = persistent_.find(r.words[0]);
    if (found == pending_.end() || made == persistent_.end() || found->second.empty()) {
        fail(r, "is for a request that was not started");
    }
    std::int64_t& left = partitions_[r.words[0]].left;
    if (r.number(1) < 0 || r.number(1) > left) {
        fail(r, "makes " + std::to_string(r.number(1)) + " partitions ready, of which " + std::to_string(left) +
                    " are left");
    }
    left -= r.number(1);
    if (left == 0 && r.number(1) > 0) {
        found->second.requests.back().slot = message(r, made->second);
        found->second.requests.back().thread = thread_->number;
    }
}

/// Once all partitions were seen to have arrived, the rank has waited for the message.
void RankConverter::partition_arrived(const TraceRecord& r) {
    const auto found = pending_.find(r.words[0]);
    if (found == pending_.end() || found->second.empty()) {
        return;  // it is inactive
    }
    Partitions& partitions = partitions_[r.words[0]];
    if (partitions.left == 0 || !partitions.arrived.insert(r.number(1)).second) {
        return;
    }
    --partitions.left;
    if (partitions.left == 0) {
        Pending& pending = found->second.requests.back();
        wait_for(std::array{own_slot(pending.thread, std::exchange(pending.slot, collectives::no_slot))});
    }
}

void RankConverter::cancel(const TraceRecord& r) {
    if (const auto found = pending_.find(r.words[0]); found != pending_.end()) {
        last_of(found->second, thread_->number)->cancelled = true;
    }
}

/// A receive was cancelled, and took no message.
void RankConverter::leave_out_receive(const Pending& pending) {
    note_cancelled(pending.slot);
    const bool wildcard = threads_[pending.thread].program.instructions.at_word(pending.instruction).peer == goal::any;
    wildcard_receives_ -= wildcard && wildcard_receives_ > 0 ? 1 : 0;  // 0 if it was posted in what is left out
    if (threads_in_search_ != nullptr) {
        threads_in_search_->cancelled(trace_.header().rank, threads_[pending.thread].receives[pending.slot]);
    }
    threads_[pending.thread].program.instructions.replace_word(pending.instruction,
                                                               {.kind = collectives::Instruction::Kind::wait});
}

/// The op continues, but no call waits for it; its slot stays in use. The handle may be that of another request later.
/// The record says whether a cancelled receive took a message. One of an earlier tracer does not: it is taken to have
/// received nothing. Another receive that names no tag is refused: it would match messages of collectives, too.
///
/// A persistent request is mostly inactive: what another thread started is the request that had the handle before,
/// whose wait is not recorded yet.
void RankConverter::free_request(const TraceRecord& r) {
    const bool persistent = persistent_.erase(r.words[0]) + persistent_collectives_.erase(r.words[0]) > 0;
    const auto found = pending_.find(r.words[0]);
    if (found == pending_.end()) {
        return;
    }
    const auto freed = last_of(found->second, thread_->number);
    if (persistent && freed->thread != thread_->number) {
        return;
    }
    const Pair received = r.words.size() >= 3 ? r.pair(1) : Pair{not_known, not_known};
    if (freed->receive && freed->cancelled && received.first >= 0) {
        resolve(r, *freed, received);
    } else if (freed->receive && freed->cancelled) {
        leave_out_receive(*freed);
    } else if (freed->receive &&
               threads_[freed->thread].program.instructions.at_word(freed->instruction).tag == goal::any) {
        fail(r, "frees a receive that names no tag, and the tag of its message is not known");
    }
    found->second.requests.erase(std::next(freed).base());
    if (found->second.empty()) {
        pending_.erase(found);
    }
}

/// Converts a wait or a successful test to a wait for the requests that completed. A wait for one-sided or file calls
/// alone becomes computation of its length; beside messages, only these are waited for.
void RankConverter::complete(const TraceRecord& r) {
    if (r.words.size() % 3 != 0) {
        fail(r, "expected three words for each request that completed");
    }
    completed_.clear();
    collectives::TimedCalls* timed = nullptr;
    bool only_timed = true;
    for (std::size_t i = 0; i < r.words.size(); i += 3) {
        const auto found = pending_.find(r.words[i]);
        if (found == pending_.end()) {
            continue;  // started by a call that is not recorded
        }
        Pending pending = found->second.take(thread_->number);
        if (found->second.empty()) {
            pending_.erase(found);
        }
        timed = pending.timed != nullptr ? pending.timed : timed;
        only_timed = only_timed && pending.timed != nullptr;
        own_slots(pending.thread, pending.more_slots);
        completed_.insert(completed_.end(), pending.more_slots.begin(), pending.more_slots.end());
        if (pending.slot == collectives::no_slot) {
            continue;
        }
        forget_access(pending);
        const Pair received = r.pair(i + 1);
        if (pending.receive && pending.cancelled && received.first == not_known) {
            leave_out_receive(pending);
            continue;
        }
        if (pending.receive && received.first >= 0) {
            resolve(r, pending, received);
        }
        const collectives::Instructions& instructions = threads_[pending.thread].program.instructions;
        if (pending.receive && instructions.at_word(pending.instruction).tag == goal::any) {
            fail(r, "completes a receive that names no tag, and the tag of its message is not known");
        }
        if (pending.receive) {
            const collectives::Instruction& instruction = instructions.at_word(pending.instruction);
            const std::int64_t bytes = r.number(i + 2);
            compute_in_cold_caches(
                use_buffer(instruction, bytes < 0 ? instruction.size : static_cast<std::uint64_t>(bytes)));
        }
        completed_.push_back(own_slot(pending.thread, pending.slot));
    }
    if (timed != nullptr && only_timed) {
        compute_for_call(r.end - r.begin, *timed);
    }
    wait_for(completed_);
}

/// Replaces the wildcards of a receive by the source and tag of the message that it received.
void RankConverter::resolve(const TraceRecord& r, const Pending& pending, Pair received) {
    ThreadConversion& thread = threads_[pending.thread];
    collectives::Instruction instruction = thread.program.instructions.at_word(pending.instruction);
    unknown_receives_ += instruction.peer == goal::any && received.first == not_known ? 1 : 0;
    if (instruction.peer == goal::any && options_.resolve_wildcards) {
        instruction.peer = peer_of(r, pending.communicator, received.first);
    }
    if (instruction.tag == goal::any && received.second >= 0) {
        instruction.tag = tag_of(pending.communicator, received.second, {});
    }
    thread.program.instructions.replace_word(pending.instruction, instruction);
    if (threads_in_search_ != nullptr) {
        threads_in_search_->resolved(trace_.header().rank, thread.receives[pending.slot], instruction.peer,
                                     instruction.tag);
    }
}

/// A rank that waits for the message that it has just begun, and for nothing else, blocks. Returns whether it does.
bool RankConverter::make_blocking(std::uint32_t slot) {
    collectives::Instructions& instructions = thread_->program.instructions;
    if (slot == collectives::no_slot || instructions.ends_with_calc()) {
        return false;
    }
    collectives::Instruction last = instructions.at_word(instructions.last_word());
    if (!collectives::is_communication(last.kind) || last.slot != slot) {
        return false;
    }
    last.blocking = true;
    last.slot = collectives::no_slot;
    instructions.replace_word(instructions.last_word(), last);
    thread_->unused_slots.push_back(slot);
    return true;
}

/// Waits for what is in slots, which can be used again then, but those that are `awaited_again`.
void RankConverter::wait_for(std::span<const std::uint32_t> slots, std::span<const std::uint32_t> awaited_again) {
    note_received(slots);
    note_complete(slots);
    if (slots.size() == 1 && awaited_again.empty() && make_blocking(slots.front())) {
        return;
    }
    awaited_.clear();
    std::ranges::copy_if(slots, std::back_inserter(awaited_),
                         [](std::uint32_t s) { return s != collectives::no_slot; });
    if (awaited_.empty()) {
        return;
    }
    std::ranges::copy_if(awaited_, std::back_inserter(thread_->unused_slots), [&](std::uint32_t slot) {
        return (slot >= thread_->used_once.size() || !thread_->used_once[slot]) &&
               std::ranges::find(awaited_again, slot) == awaited_again.end();
    });
    thread_->program.instructions.push_back({.kind = collectives::Instruction::Kind::wait,
                                             .begin = begin_of(awaited_),
                                             .count = static_cast<std::uint32_t>(awaited_.size())});
}

/// Where a list of slots begins among the different ones of the rank.
std::uint32_t RankConverter::begin_of(std::span<const std::uint32_t> slots) {
    std::vector<std::uint32_t>& lists = thread_->program.slot_lists;
    std::size_t hash = slots.size();
    for (const std::uint32_t slot : slots) {
        hash = (hash ^ slot) * 0x9e3779b97f4a7c15;  // of Fibonacci hashing
    }
    const auto [first, last] = thread_->known_slot_lists.equal_range(hash);
    const auto found = std::find_if(first, last, [&](const auto& known) {
        const std::span<const std::uint32_t> list = std::span(lists).subspan(known.second);
        return list.size() >= slots.size() && std::ranges::equal(list.first(slots.size()), slots);
    });
    if (found != last) {
        return found->second;
    }
    const auto begin = static_cast<std::uint32_t>(lists.size());
    thread_->known_slot_lists.emplace(hash, begin);
    lists.insert(lists.end(), slots.begin(), slots.end());
    return begin;
}

}  // namespace idlewave::trace
