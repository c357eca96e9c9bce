#include "trace/consistent_cut.hpp"

#include <algorithm>
#include <limits>

namespace idlewave::trace {

std::uint32_t ConsistentCut::channel(std::uint32_t source, std::uint32_t destination, std::uint32_t tag) {
    const auto next = static_cast<std::uint32_t>(channels_.size());
    const auto [found, added] = channel_numbers_.try_emplace({source, destination, tag}, next);
    if (added) {
        channels_.push_back({source, destination});
    }
    return found->second;
}

void ConsistentCut::sent(std::uint32_t rank, std::uint64_t record, std::uint32_t destination, std::uint32_t tag) {
    const std::uint32_t where = channel(rank, destination, tag);
    ranks_[rank].events.push_back({record, where, channels_[where].sent++, Kind::send});
    channels_[where].sends.push_back(record);
}

std::uint32_t ConsistentCut::posted(std::uint32_t rank, std::uint64_t record, std::uint32_t source, std::uint32_t tag) {
    Channel& used = channels_[channel(source, rank, tag)];
    used.received.push_back(0);
    used.posts.push_back(record);
    return static_cast<std::uint32_t>(used.received.size() - 1);
}

void ConsistentCut::received(std::uint32_t rank, std::uint64_t record, std::uint32_t source, std::uint32_t tag,
                             std::uint32_t number) {
    const std::uint32_t where = channel(source, rank, tag);
    channels_[where].received[number] = record;
    ranks_[rank].events.push_back({record, where, number, Kind::receive});
}

void ConsistentCut::begun(std::uint32_t rank, std::uint64_t record, std::uint32_t communicator, std::uint32_t ordinal) {
    const auto next = static_cast<std::uint32_t>(sequences_.size());
    const auto [found, added] = sequence_numbers_.try_emplace({communicator, ordinal}, next);
    if (added) {
        sequences_.push_back({communicator, {}});
    }
    std::vector<std::uint64_t>& records = sequences_[found->second].begun[rank];
    ranks_[rank].events.push_back(
        {record, found->second, static_cast<std::uint32_t>(records.size()), Kind::collective});
    records.push_back(record);
}

/// Leaves out the records of a rank from this one on; 0 stands for no record.
void ConsistentCut::end_before(std::uint32_t rank, std::uint64_t record) {
    if (record != 0 && record <= ranks_[rank].records) {
        ranks_[rank].records = record - 1;
        shortened_.push_back(rank);
    }
}

/// What a record did that is left out is left out of the other ranks, too.
void ConsistentCut::leave_out(std::uint32_t rank, const Event& event) {
    switch (event.kind) {
        case Kind::receive:
            channels_[event.where].received[event.number] = 0;
            break;
        case Kind::send: {
            Channel& used = channels_[event.where];
            used.sent = event.number;
            if (event.number < used.received.size()) {
                end_before(used.destination, used.received[event.number]);
            }
            break;
        }
        case Kind::collective:
            sequences_[event.where].begun[rank].pop_back();
            for (const auto& [other, records] : sequences_[event.where].begun) {
                if (event.number < records.size()) {
                    end_before(other, records[event.number]);
                }
            }
    }
}

/// Each rank that is shortened may leave others without what they received, so these are shortened in turn. A record is
/// left out once at most.
void ConsistentCut::find(const std::vector<std::vector<std::uint32_t>>& communicators) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        shortened_.push_back(rank);
    }
    for (const Channel& channel : channels_) {
        for (std::size_t number = channel.sent; number < channel.received.size(); ++number) {
            end_before(channel.destination, channel.received[number]);
        }
    }
    for (Sequence& sequence : sequences_) {
        std::size_t complete = std::numeric_limits<std::size_t>::max();
        for (const std::uint32_t member : communicators[sequence.communicator]) {
            complete = std::min(complete, sequence.begun[member].size());
        }
        for (const auto& [rank, records] : sequence.begun) {
            if (complete < records.size()) {
                end_before(rank, records[complete]);
            }
        }
    }
    while (!shortened_.empty()) {
        const std::uint32_t rank = shortened_.back();
        shortened_.pop_back();
        std::vector<Event>& events = ranks_[rank].events;
        while (!events.empty() && events.back().record > ranks_[rank].records) {
            const Event event = events.back();
            events.pop_back();
            leave_out(rank, event);
        }
    }
}

/// Leaves out the first `count` of the rank's records, which are those of a channel or of a sequence, with all that
/// come before the last of them. False: they are.
bool ConsistentCut::leave_out_first(std::uint32_t rank, const std::vector<std::uint64_t>& records, std::size_t count) {
    if (count == 0 || records.empty() || records[std::min(count, records.size()) - 1] <= ranks_[rank].begin) {
        return false;
    }
    ranks_[rank].begin = records[std::min(count, records.size()) - 1];
    return true;
}

/// As many sends as receives are left out. False: so it is.
bool ConsistentCut::begin_channel(const Channel& channel) {
    const auto before = [this](std::uint32_t rank, const std::vector<std::uint64_t>& records) {
        return static_cast<std::size_t>(std::ranges::upper_bound(records, ranks_[rank].begin) - records.begin());
    };
    const std::size_t sent = before(channel.source, channel.sends);
    const std::size_t posted = before(channel.destination, channel.posts);
    return sent > posted ? leave_out_first(channel.destination, channel.posts, sent)
                         : leave_out_first(channel.source, channel.sends, posted);
}

/// All ranks leave out as many collectives. False: they do.
bool ConsistentCut::begin_sequence(const Sequence& sequence) {
    std::size_t most = 0;
    for (const auto& [rank, records] : sequence.begun) {
        const auto left = std::ranges::upper_bound(records, ranks_[rank].begin);
        most = std::max(most, static_cast<std::size_t>(left - records.begin()));
    }
    bool changed = false;
    for (const auto& [rank, records] : sequence.begun) {
        changed = leave_out_first(rank, records, most) || changed;
    }
    return changed;
}

/// What one rank leaves out may be the other side of what others have, so these leave out more in turn.
void ConsistentCut::find_begin() {
    for (Channel& channel : channels_) {
        std::ranges::sort(channel.posts);  // a receive without a source is known when it is complete
    }
    bool changed = true;
    while (changed) {
        changed = false;
        for (const Channel& channel : channels_) {
            changed = begin_channel(channel) || changed;
        }
        for (const Sequence& sequence : sequences_) {
            changed = begin_sequence(sequence) || changed;
        }
    }
}

bool ConsistentCut::take_send(std::uint32_t rank, std::uint32_t destination, std::uint32_t tag) {
    Channel& used = channels_[channel(rank, destination, tag)];
    const std::uint32_t number = used.taken++;
    return number < used.received.size() && used.received[number] != 0;
}

}  // namespace idlewave::trace
