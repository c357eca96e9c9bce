#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "pdes/partition.hpp"

/// There and back: what is written down of a visit, so that it can be undone; undoing it, or committing it once nobody
/// can.
namespace idlewave::pdes {

/// Writes down how the LP is, and what it is told, before it is visited.
template <Model M, class Port>
inline Visit* Partition<M, Port>::remember(const Context& context, std::span<const Stored> told) {
    constexpr std::size_t state_bytes = journals<M> ? 0 : Visit::padded(sizeof(State));
    Visit* made = log_.open(sizeof(Visit) + state_bytes + told.size() * sizeof(Stored));
    const Lp<State>& lp = *context.record;
    const Last& last = last_[context.local];
    made->before = last.visit;
    made->cell_before = last.cell_after;
    made->cell = context.cell;
    made->lp = context.local;
    made->events = static_cast<std::uint32_t>(told.size());
    made->sends = 0;
    made->payload_bytes = made->journal_bytes = made->emitted_bytes = 0;
    made->sequence = lp.sequence;
    made->timer = lp.timer;
    made->state_bytes = state_bytes;
    made->undone = false;
    if constexpr (!journals<M>) {
        std::memcpy(made->state(), &lp.state, sizeof(State));
    }
    std::copy(told.begin(), told.end(), made->told().begin());
    return made;
}

/// Adds what the visit led to.
template <Model M, class Port>
inline void Partition<M, Port>::keep(Visit* made, const Context& context) {
    const std::size_t written = made->bytes();
    const std::size_t payload_bytes = sent_payloads_.size() * sizeof(Payload);
    const std::size_t emitted_bytes = emitted_.size() * sizeof(Emitted);
    const std::size_t more = sent_.size() * sizeof(Sent) + Visit::padded(payload_bytes) +
                             Visit::padded(journal_.size()) + Visit::padded(emitted_bytes);
    if (more > 0) {
        made = log_.reopen(made, written, written + more);
        made->sends = static_cast<std::uint32_t>(sent_.size());
        made->payload_bytes = static_cast<std::uint32_t>(payload_bytes);
        made->journal_bytes = static_cast<std::uint32_t>(journal_.size());
        made->emitted_bytes = static_cast<std::uint32_t>(emitted_bytes);
        std::copy(sent_.begin(), sent_.end(), made->sent().begin());
        copy_into(made->payloads(), sent_payloads_.data());
        copy_into(made->journal(), journal_.data());
        copy_into(made->emitted(), emitted_.data());
    }
    made->counted = static_cast<std::uint32_t>(worker_.counted() - counted_);
    counted_ = worker_.counted();
    log_.close(made);
    last_[context.local] = {made, context.cell + 1};
}

template <Model M, class Port>
inline void Partition<M, Port>::copy_into(std::span<std::byte> bytes, const void* values) {
    if (!bytes.empty()) {
        std::memcpy(bytes.data(), values, bytes.size());
    }
}

/// The state as it was before a visit: a copy was made of it, or the model undoes what it has written down.
template <Model M, class Port>
void Partition<M, Port>::restore_state(Lp<State>& lp, const void* copy, std::span<const std::byte> journal,
                                       std::uint32_t number) {
    if constexpr (journals<M>) {
        worker_.undo(lp.state, journal, number);
    } else {
        std::memcpy(&lp.state, copy, sizeof(State));
    }
}

/// Undoes all that an LP did in `cell` and after.
template <Model M, class Port>
void Partition<M, Port>::undo_from(std::uint32_t local, std::int64_t cell) {
    Last& last = last_[local];
    while (last.cell_after > cell) {
        undo(*last.visit);
        last = {last.visit->before, last.visit->cell_before};
    }
}

template <Model M, class Port>
void Partition<M, Port>::undo(Visit& visit) {
    Lp<State>& lp = lps_[visit.lp];
    const std::uint32_t number = placement_.lp_of(self_, visit.lp);
    restore_state(lp, visit.state(), visit.journal(), number);
    lp.sequence = visit.sequence;
    lp.timer = visit.timer;
    const Time begins = grid_.begin_of(visit.cell);
    for (const Stored& stored : visit.told()) {
        push(record_of(stored, begins, visit.lp), visit.cell);
    }
    if (lazy_) {
        withdrawals_.add(visit, number);
    } else {
        cancel(visit, number);
    }
    statistics_.rolled_back += visit.counted;
    worker_.counted() -= visit.counted;
    counted_ -= visit.counted;
    visit.undone = true;
}

template <Model M, class Port>
void Partition<M, Port>::cancel(Visit& visit, std::uint32_t source) {
    std::uint32_t sequence = visit.sequence;
    for (const Sent& sent : visit.sent()) {
        cancelled_.push_back({sent, sequence++, source});
    }
}

template <Model M, class Port>
inline void Partition<M, Port>::commit(Visit& visit) {
    for (const Stored& stored : visit.told()) {
        opening_.close(stored);
    }
    for (std::size_t at = 0; at < visit.emitted_bytes; at += sizeof(Emitted)) {
        Emitted emitted;
        std::memcpy(&emitted, visit.emitted().data() + at, sizeof emitted);
        put_out(emitted);
    }
    statistics_.committed += visit.counted;
}

}  // namespace idlewave::pdes
