#include "trace/consistent_cut.hpp"

#include <algorithm>
#include <limits>

namespace idlewave::trace {

std::uint32_t ConsistentCut::channel(std::uint32_t source, std::uint32_t destination, std::uint32_t tag) {
    const auto next = static_cast<std::uint32_t>(channels_.size());
    const auto [found, added] = channel_numbers_.try_emplace({source, destination, tag}, next);
    if (added) {
        channels_.emplace_back();
    }
    return found->second;
}

void ConsistentCut::sent(std::uint32_t rank, std::uint64_t record, std::uint32_t destination, std::uint32_t tag) {
    ranks_[rank].events.push_back({record, channel(rank, destination, tag), Kind::send});
}

void ConsistentCut::received(std::uint32_t rank, std::uint64_t record, std::uint32_t source, std::uint32_t tag) {
    ranks_[rank].events.push_back({record, channel(source, rank, tag), Kind::receive});
}

void ConsistentCut::begun(std::uint32_t rank, std::uint64_t record, std::uint32_t communicator, std::uint32_t making) {
    const auto next = static_cast<std::uint32_t>(sequences_.size());
    const auto [found, added] = sequence_numbers_.try_emplace({communicator, making}, next);
    if (added) {
        sequences_.push_back({communicator, {}});
    }
    ranks_[rank].events.push_back({record, found->second, Kind::collective});
}

void ConsistentCut::count(std::uint32_t rank, const Event& event, std::int64_t by) {
    const auto change = static_cast<std::uint64_t>(by);  // unsigned numbers wrap round: adding −1 subtracts
    switch (event.kind) {
        case Kind::send:
            channels_[event.number].sent += change;
            break;
        case Kind::receive:
            channels_[event.number].received += change;
            break;
        case Kind::collective:
            sequences_[event.number].begun[rank] += change;
            break;
    }
}

/// How many collectives of each sequence all ranks of its communicator have begun.
std::vector<std::uint64_t> ConsistentCut::complete_collectives(
    const std::vector<std::vector<std::uint32_t>>& communicators) const {
    std::vector<std::uint64_t> complete;
    for (const Sequence& sequence : sequences_) {
        std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
        for (const std::uint32_t member : communicators[sequence.communicator]) {
            const auto found = sequence.begun.find(member);
            least = std::min(least, found == sequence.begun.end() ? 0 : found->second);
        }
        complete.push_back(least);
    }
    return complete;
}

/// Leaves out the records of a rank from the first on that receives what is not sent, or begins a collective that not
/// all begin. Returns whether there is one.
bool ConsistentCut::shorten(std::uint32_t rank, const std::vector<std::uint64_t>& complete) {
    std::vector<Event>& events = ranks_[rank].events;
    std::map<std::uint32_t, std::uint64_t> received;
    std::map<std::uint32_t, std::uint64_t> begun;
    const auto lacks_a_side = [&](const Event& event) {
        if (event.kind == Kind::receive) {
            return ++received[event.number] > channels_[event.number].sent;
        }
        return event.kind == Kind::collective && ++begun[event.number] > complete[event.number];
    };
    const auto first = std::ranges::find_if(events, lacks_a_side);
    if (first == events.end()) {
        return false;
    }
    ranks_[rank].records = first->record - 1;
    while (!events.empty() && events.back().record > ranks_[rank].records) {
        count(rank, events.back(), -1);
        events.pop_back();
    }
    return true;
}

/// Each rank that is shortened may leave others without what they received, so all are looked at until none is.
void ConsistentCut::find(const std::vector<std::vector<std::uint32_t>>& communicators) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        ranks_[rank].records = std::numeric_limits<std::uint64_t>::max();
        for (const Event& event : ranks_[rank].events) {
            count(rank, event, 1);
        }
    }
    for (bool shortened = true; shortened;) {
        shortened = false;
        const std::vector<std::uint64_t> complete = complete_collectives(communicators);
        for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
            shortened = shorten(rank, complete) || shortened;
        }
    }
    for (Rank& rank : ranks_) {
        rank.events = {};
    }
}

bool ConsistentCut::take_send(std::uint32_t rank, std::uint32_t destination, std::uint32_t tag) {
    Channel& used = channels_[channel(rank, destination, tag)];
    return ++used.taken <= used.received;
}

}  // namespace idlewave::trace
