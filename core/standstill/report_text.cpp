#include "standstill/report_text.hpp"

#include <algorithm>

namespace idlewave::standstill {
namespace {

std::string line(const Waiting& one) {
    return "\n  " + text_of_rank(one.rank) + ", " + one.op + ": " + one.why;
}

std::string line(const UnmatchedMessage& message) {
    return "\n  " + text_of_rank(message.sender) + (message.op.empty() ? "" : ", " + message.op) + ": " +
           number_of(message.size, "byte") + " to " + text_of_rank(message.receiver) + " with " +
           text_of_tag(message.tag) + (message.hint.empty() ? "" : "; " + message.hint);
}

/// A headline and the first lines below it.
template <class Entry>
std::string section(const std::string& headline, const std::vector<Entry>& entries, std::uint64_t count) {
    std::string text = headline;
    const std::size_t shown = std::min(most_lines, entries.size());
    for (std::size_t i = 0; i < shown; ++i) {
        text += line(entries[i]);
    }
    if (count > shown) {
        text += "\n  … and " + std::to_string(count - shown) + " more";
    }
    return text;
}

/// A short cycle as a whole; of a long one the beginning and, if it is known, the end.
std::string cycle_section(const std::vector<Waiting>& cycle, std::uint64_t length) {
    std::string text = length == 1 ? "deadlock: an op waits for itself"
                                   : "deadlock: " + std::to_string(length) + " ops wait for each other in a cycle";
    const bool whole = length <= most_lines;
    const std::size_t shown = whole ? cycle.size() : most_lines - 2;
    for (std::size_t i = 0; i < shown; ++i) {
        text += line(cycle[i]);
    }
    if (!whole) {
        const bool ends = cycle.size() == length;
        text += "\n  … and " + std::to_string(length - shown - (ends ? 1 : 0)) + " more …";
        text += ends ? line(cycle.back()) : "";
    }
    return text + "\n  and so back to " + text_of_rank(cycle.front().rank) + ", " + cycle.front().op;
}

std::string headline_of(const UnmatchedWaits& receives) {
    const std::string waits = receives.count == 1 ? "an op waits" : std::to_string(receives.count) + " ops wait";
    if (receives.one_sided) {
        return "deadlock: " + waits + " for messages, notifications or locks that never come";
    }
    return receives.count == 1 ? "unmatched receive: " + waits + " for a message that nobody sends"
                               : "unmatched receives: " + waits + " for messages that nobody sends";
}

}  // namespace

std::string text_of_tag(std::uint32_t tag) {
    return tag == goal::any ? "any tag" : "tag " + std::to_string(tag);
}

std::string text_of_rank(std::uint32_t rank) {
    return rank == goal::any ? "any rank" : "rank " + std::to_string(rank);
}

std::string number_of(std::uint64_t count, const std::string& noun) {
    return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string why(const PendingOp& op) {
    if (op.kind == goal::OpKind::recv) {
        return "waits for a message from " + text_of_rank(op.peer) + " with " + text_of_tag(op.tag);
    }
    if (op.kind == goal::OpKind::await) {
        return "waits for a notification from " + text_of_rank(op.peer) + " with " + text_of_tag(op.tag);
    }
    if (goal::is_one_sided(op.kind)) {
        return "waits for lock " + std::to_string(op.tag) + " at " + text_of_rank(op.peer) + ", which " +
               text_of_rank(op.holder) + " has";
    }
    return "waits for " + text_of_rank(op.peer) + " to receive its " + number_of(op.size, "byte") + " with " +
           text_of_tag(op.tag) + " (rendezvous)";
}

Waiting waiting_of(const UnfinishedRank& stuck) {
    const goal::StopPosition& stand = stuck.stand;
    if (stand.kind == goal::StopPosition::Kind::operation) {
        return {stuck.rank, "operation " + std::to_string(stand.at), "has not ended"};
    }
    return {stuck.rank, "instruction " + std::to_string(stand.at) + " of " + std::to_string(stand.of),
            stand.kind == goal::StopPosition::Kind::collective ? "stands in a collective operation" : "cannot go on"};
}

std::string message_of(const LeftOver& found, const UnmatchedWaits& receives, std::uint64_t unmatched_messages) {
    std::vector<std::string> sections;
    if (!found.cycle.empty()) {
        sections.push_back(cycle_section(found.cycle, found.cycle_length));
    }
    if (receives.count > 0) {
        sections.push_back(section(headline_of(receives), receives.first, receives.count));
    }
    if (unmatched_messages > 0) {
        sections.push_back(section(unmatched_messages == 1 ? "unmatched send: a message is received by no op"
                                                           : "unmatched sends: " + std::to_string(unmatched_messages) +
                                                                 " messages are received by no op",
                                   found.messages, unmatched_messages));
    }
    if (sections.empty()) {
        return section("deadlock: nothing can happen any more, and " + number_of(found.left, "thing") +
                           (found.left == 1 ? " is left" : " are left"),
                       found.waiting, found.left);
    }
    std::string text = sections.front();
    for (std::size_t i = 1; i < sections.size(); ++i) {
        text += '\n' + sections[i];
    }
    if (found.left > found.cycle_length + receives.count + unmatched_messages) {
        text += "\nin all " + number_of(found.left, "thing") + " are left";
    }
    return text;
}

}  // namespace idlewave::standstill
