#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "trace/rank_converter.hpp"

/// What the conversion of a trace that ended early says to find the cut, and what it leaves out once that is found.
namespace idlewave::trace {

/// Of a trace that is cut: the receive that was just added. A blocking one is complete at once.
void RankConverter::note_posted(const collectives::Instruction& receive) {
    if (cut_in_search_ == nullptr && found_cut_ == nullptr) {
        return;
    }
    const std::uint32_t rank = trace_.header().rank;
    const bool named = receive.peer != goal::any && receive.tag != goal::any;
    std::optional<std::uint32_t> number;
    if (cut_in_search_ != nullptr && named) {
        number = cut_in_search_->posted(rank, receive.peer, receive.tag);
    }
    if (!receive.blocking) {
        posted_[receive.slot] = {thread_->program.instructions.last_word(), receives_, number};
    } else if (number) {
        cut_in_search_->received(rank, call_, receive.peer, receive.tag, *number, receives_);
    }
}

/// Says which of the awaited messages the rank has received.
void RankConverter::note_received(std::span<const std::uint32_t> slots) {
    for (const std::uint32_t slot : slots) {
        const auto found = posted_.find(slot);
        if (found == posted_.end()) {
            continue;
        }
        if (cut_in_search_ != nullptr) {
            const collectives::Instruction& receive = thread_->program.instructions.at_word(found->second.word);
            const std::uint32_t rank = trace_.header().rank;
            const std::uint32_t number =
                found->second.number ? *found->second.number : cut_in_search_->posted(rank, receive.peer, receive.tag);
            cut_in_search_->received(rank, call_, receive.peer, receive.tag, number, found->second.ordinal);
        }
        posted_.erase(found);
    }
}

/// Whether a message is a send that nobody has received before the cut, or a receive of one that was sent before the
/// beginning.
bool RankConverter::left_out(const collectives::Instruction& message) {
    if (message.kind == collectives::Instruction::Kind::recv) {
        ++receives_;
        return found_cut_ != nullptr && found_cut_->arrived(trace_.header().rank, receives_);
    }
    const std::uint32_t rank = trace_.header().rank;
    if (cut_in_search_ != nullptr) {
        cut_in_search_->sent(rank, call_, message.peer, message.tag);
    }
    return found_cut_ != nullptr && !found_cut_->take_send(rank, message.peer, message.tag);
}

/// A posted receive was cancelled.
void RankConverter::note_cancelled(std::uint32_t slot) {
    const auto found = posted_.find(slot);
    if (found == posted_.end()) {
        return;
    }
    if (cut_in_search_ != nullptr && found->second.number) {
        const collectives::Instruction& receive = thread_->program.instructions.at_word(found->second.word);
        cut_in_search_->cancelled(trace_.header().rank, receive.peer, receive.tag, *found->second.number);
    }
    posted_.erase(found);
}

/// Leaves out all that was converted up to this record, but the receives that are open: they are posted anew, after
/// the offset of the rank.
void RankConverter::leave_out_beginning(const TraceRecord& r, const RankBegin& begin) {
    std::vector<OpenReceive> open;
    open.reserve(posted_.size());
    for (const auto& [slot, receive] : posted_) {
        open.push_back({slot, receive, thread_->program.instructions.at_word(receive.word)});
    }
    std::ranges::sort(open, {}, [](const OpenReceive& receive) { return receive.posted.word; });
    thread_->program.instructions = {};
    thread_->program.slots = 0;
    thread_->unused_slots.clear();
    thread_->slot_of_buffered.reset();
    posted_.clear();
    compute(begin.offset);
    std::map<std::uint32_t, std::uint32_t> slots;  // of the open receives, by those that they had
    for (OpenReceive& receive : open) {
        receive.instruction.slot = slots[receive.slot] = new_slot();
        thread_->program.instructions.push_back(receive.instruction);
        receive.posted.word = thread_->program.instructions.last_word();
        posted_[receive.instruction.slot] = receive.posted;
    }
    use_slots(slots);
    wildcard_receives_ = 0;
    unknown_receives_ = 0;
    one_sided_ = {};
    files_ = {};
    between_.begin_again(r, begin.skipped);  // polls do not end a computation, and they are left out
    thread_->waited_inside = 0;
}

/// The requests and windows of receives that were posted anew have their slots; those of all else wait for nothing.
void RankConverter::use_slots(const std::map<std::uint32_t, std::uint32_t>& slots) {
    const auto slot_of = [&slots](std::uint32_t slot) {
        const auto found = slots.find(slot);
        return found == slots.end() ? collectives::no_slot : found->second;
    };
    for (auto& [request, queue] : pending_) {
        for (Pending& pending : queue.requests) {
            pending.slot = slot_of(pending.slot);
            pending.receive = pending.receive && pending.slot != collectives::no_slot;
            pending.instruction = pending.receive ? posted_.at(pending.slot).word : 0;
            std::ranges::transform(pending.more_slots, pending.more_slots.begin(), slot_of);
        }
    }
    for (auto& [id, window] : windows_) {
        std::ranges::transform(window.exposed, window.exposed.begin(), slot_of);
    }
}

/// A receive for which no call waits before the cut is not simulated: its message may not have been sent.
void RankConverter::leave_out_posted() {
    if (found_cut_ == nullptr) {
        return;
    }
    for (const auto& [slot, receive] : posted_) {
        thread_->program.instructions.replace_word(receive.word, {.kind = collectives::Instruction::Kind::wait});
    }
}

}  // namespace idlewave::trace
