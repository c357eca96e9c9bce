#include "trace/consistent_cut.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace idlewave::trace {
namespace {

/// Instead of the record that completes a receive: it was cancelled.
constexpr std::uint64_t took_nothing = ~std::uint64_t{0};

}  // namespace

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

std::uint32_t ConsistentCut::posted(std::uint32_t rank, std::uint32_t source, std::uint32_t tag) {
    std::vector<std::uint64_t>& received = channels_[channel(source, rank, tag)].received;
    received.push_back(0);
    return static_cast<std::uint32_t>(received.size() - 1);
}

void ConsistentCut::received(std::uint32_t rank, std::uint64_t record, std::uint32_t source, std::uint32_t tag,
                             std::uint32_t number, std::uint32_t ordinal) {
    const std::uint32_t where = channel(source, rank, tag);
    channels_[where].received[number] = record;
    ranks_[rank].events.push_back({record, where, number, Kind::receive, ordinal});
}

void ConsistentCut::cancelled(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t number) {
    channels_[channel(source, rank, tag)].received[number] = took_nothing;
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
    leave_out_cancelled();
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

/// The receives of a channel are numbered without those that were cancelled, as the sends that they match.
void ConsistentCut::leave_out_cancelled() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> numbers;  // the new ones, by channel
    for (std::uint32_t where = 0; where < channels_.size(); ++where) {
        std::vector<std::uint64_t>& received = channels_[where].received;
        if (std::ranges::find(received, took_nothing) == received.end()) {
            continue;
        }
        std::uint32_t next = 0;
        for (const std::uint64_t record : received) {
            numbers[where].push_back(next);
            next += record == took_nothing ? 0 : 1;
        }
        std::erase(received, took_nothing);
    }
    if (numbers.empty()) {
        return;
    }
    for (Rank& rank : ranks_) {
        for (Event& event : rank.events) {
            const auto found = event.kind == Kind::receive ? numbers.find(event.where) : numbers.end();
            if (found != numbers.end()) {
                event.number = found->second[event.number];
            }
        }
    }
}

void ConsistentCut::begin_after(std::uint32_t rank, std::uint64_t record) {
    if (record > ranks_[rank].begin) {
        ranks_[rank].begin = record;
        shortened_.push_back(rank);
    }
}

/// What a message or a collective that is left out at the beginning needs is left out, too.
void ConsistentCut::leave_out_first(std::uint32_t rank, const Event& event) {
    switch (event.kind) {
        case Kind::send:
            break;
        case Kind::receive: {
            const Channel& used = channels_[event.where];
            begin_after(used.source, used.sends[event.number]);
            break;
        }
        case Kind::collective:
            for (const auto& [other, records] : sequences_[event.where].begun) {
                if (other != rank && event.number < records.size()) {
                    begin_after(other, records[event.number]);
                }
            }
    }
}

void ConsistentCut::find_begin() {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        shortened_.push_back(rank);
    }
    std::vector<std::size_t> seen(ranks_.size());  // how many events of each rank are left out
    while (!shortened_.empty()) {
        const std::uint32_t rank = shortened_.back();
        shortened_.pop_back();
        const std::vector<Event>& events = ranks_[rank].events;
        while (seen[rank] < events.size() && events[seen[rank]].record <= ranks_[rank].begin) {
            leave_out_first(rank, events[seen[rank]++]);
        }
    }
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        for (const Event& event : std::span(ranks_[rank].events).subspan(seen[rank])) {
            if (event.kind != Kind::receive) {
                continue;
            }
            const Channel& used = channels_[event.where];
            if (used.sends[event.number] <= ranks_[used.source].begin) {
                ranks_[rank].arrived.push_back(event.ordinal);
            }
        }
        std::ranges::sort(ranks_[rank].arrived);
    }
}

bool ConsistentCut::take_send(std::uint32_t rank, std::uint32_t destination, std::uint32_t tag) {
    Channel& used = channels_[channel(rank, destination, tag)];
    const std::uint32_t number = used.taken++;
    return number < used.received.size() && used.received[number] != 0;
}

}  // namespace idlewave::trace
