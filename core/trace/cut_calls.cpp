#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

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
        number = cut_in_search_->posted(rank, call_, receive.peer, receive.tag);
    }
    if (!receive.blocking) {
        posted_[receive.slot] = {program_.instructions.last_word(), call_, number};
    } else if (number) {
        cut_in_search_->received(rank, call_, receive.peer, receive.tag, *number);
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
            const collectives::Instruction& receive = program_.instructions.at_word(found->second.word);
            const std::uint32_t rank = trace_.header().rank;
            const std::uint32_t number =
                found->second.number ? *found->second.number
                                     : cut_in_search_->posted(rank, found->second.record, receive.peer, receive.tag);
            cut_in_search_->received(rank, call_, receive.peer, receive.tag, number);
        }
        posted_.erase(found);
    }
}

/// Whether a message is a send that nobody has received before the cut.
bool RankConverter::left_out(const collectives::Instruction& message) {
    if (message.kind == collectives::Instruction::Kind::recv) {
        return false;
    }
    const std::uint32_t rank = trace_.header().rank;
    if (cut_in_search_ != nullptr) {
        cut_in_search_->sent(rank, call_, message.peer, message.tag);
    }
    return found_cut_ != nullptr && !found_cut_->take_send(rank, message.peer, message.tag);
}

/// Leaves out all that was converted so far: nothing waits for it.
void RankConverter::leave_out_beginning() {
    program_.instructions = {};
    program_.slots = 0;
    unused_slots_.clear();
    posted_.clear();
    for (auto& [request, queue] : pending_) {
        for (Pending& pending : queue.requests) {
            pending.slot = collectives::no_slot;
            pending.more_slots.clear();
            pending.receive = false;
        }
    }
    for (auto& [id, window] : windows_) {
        std::ranges::fill(window.exposed, collectives::no_slot);
    }
    wildcard_receives_ = 0;
    unknown_receives_ = 0;
    one_sided_ = {};
    files_ = {};
    excluded_ = 0;
}

/// A receive for which no call waits before the cut is not simulated: its message may not have been sent.
void RankConverter::leave_out_posted() {
    if (found_cut_ == nullptr) {
        return;
    }
    for (const auto& [slot, receive] : posted_) {
        program_.instructions.replace_word(receive.word, {.kind = collectives::Instruction::Kind::wait});
    }
}

}  // namespace idlewave::trace
