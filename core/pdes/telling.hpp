#pragma once

#include <algorithm>
#include <cstdint>

#include "pdes/partition.hpp"

/// What LPs are told: it waits here, or goes to another partition; and what was told is taken back. What comes for a
/// cell that was gone through undoes visits (undoing.hpp).
namespace idlewave::pdes {

/// Something that an LP of this partition is told: from now on it waits.
template <Model M, class Port>
[[gnu::always_inline]] inline void Partition<M, Port>::put(const Record& told) {
    const std::int64_t cell = grid_.cell_of(told.time);
    if (cell <= frontier_) [[unlikely]] {
        put_back_to(told, cell);
        return;
    }
    push(told, cell);
}

template <Model M, class Port>
[[gnu::always_inline]] inline void Partition<M, Port>::push(const Record& told, std::int64_t cell) {
    first_ = std::min(first_, cell);
    calendar_.push(told.time, told.lp, told.source, told.sequence, told.code);
}

/// The same in a cell that was gone through: whoever was visited in it too early has to be again.
template <Model M, class Port>
[[gnu::noinline]] void Partition<M, Port>::put_back_to(const Record& told, std::int64_t cell) {
    if (visiting_) {
        late_.push_back(told);
        return;
    }
    put_among_visited(told, cell);
    take_back_all();
}

/// What was told during a visit for cells that were gone through: now that the worker is free to undo.
template <Model M, class Port>
[[gnu::noinline]] void Partition<M, Port>::put_late() {
    for (const Record& told : late_) {
        put_among_visited(told, grid_.cell_of(told.time));
    }
    late_.clear();
    take_back_all();
}

template <Model M, class Port>
void Partition<M, Port>::put_among_visited(const Record& told, std::int64_t cell) {
    if (cell == going_through_ && told.lp >> grid_.block_shift == block_) [[unlikely]] {
        meanwhile_.push_back(told);
        return;
    }
    if (last_[told.lp].cell_after > cell) {
        if (told.code == Stored::anti) {
            ++statistics_.secondary_rollbacks;
        } else {
            ++statistics_.primary_rollbacks;
        }
        undo_from(told.lp, cell);
    }
    push(told, cell);
}

/// An event that was sent is not to be.
template <Model M, class Port>
void Partition<M, Port>::take_back(const SentBy& cancelled) {
    const Placement::Place place = placement_.of(cancelled.sent.destination);
    const Record anti{cancelled.sent.time, place.local, cancelled.source, cancelled.sequence, Stored::anti};
    const std::int64_t cell = grid_.cell_of(anti.time);
    ++statistics_.taken_back;
    if (place.partition != self_) {
        outbox_.tell(place.partition, anti, cell);
        return;
    }
    if (cell > frontier_) {
        push(anti, cell);
    } else if (visiting_) {
        late_.push_back(anti);
    } else {
        put_among_visited(anti, cell);
    }
}

template <Model M, class Port>
void Partition<M, Port>::take_back_all() {
    while (!cancelled_.empty()) {
        const SentBy cancelled = cancelled_.back();
        cancelled_.pop_back();
        take_back(cancelled);
    }
}

template <Model M, class Port>
void Partition<M, Port>::receive_mails() {
    while (Mail<Payload>* mail = port_.receive()) {
        gvt_.received(mail->epoch);
        auto payload = mail->payloads.begin();
        for (Record& told : mail->records) {
            if (told.code == Stored::in_parcel) {
                take_in(told, *payload++);
            }
            put(told);
        }
        port_.give_back(mail);
    }
}

/// A payload that has come from elsewhere: it has a code here, or lies in a parcel.
template <Model M, class Port>
void Partition<M, Port>::take_in(Record& told, Payload& payload) {
    if constexpr (adopts) {
        told.code = worker_.adopt(payload);
    }
    if (told.code == Stored::in_parcel) {
        told.sequence = parcels_.put(told.sequence, payload);
    }
}

/// Something with a code, which another process may not know.
template <Model M, class Port>
void Partition<M, Port>::tell_elsewhere(std::uint32_t partition, const Record& told) {
    const std::int64_t cell = grid_.cell_of(told.time);
    if constexpr (adopts) {
        if (!port_.shares_memory_with(partition)) {
            Record whole = told;
            whole.code = Stored::in_parcel;
            outbox_.tell(partition, whole, cell, model_.payload(told.code));
            return;
        }
    }
    outbox_.tell(partition, told, cell);
}

}  // namespace idlewave::pdes
