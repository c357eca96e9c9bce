#pragma once

#include <cstdint>

#include "pdes/partition.hpp"
#include "pdes/refusals.hpp"

/// What a model sees of a partition while it runs an LP.
namespace idlewave::pdes {

template <Model M, class Port>
struct Partition<M, Port>::Context {
    Partition& partition;
    Time until;
    std::int64_t cell;
    std::uint32_t lp = 0;     ///< its number
    std::uint32_t local = 0;  ///< its place
    Lp<State>* record = nullptr;
    bool logged = false;                      ///< what it sends may have to be taken back
    Withdrawn<Payload>* withdrawn = nullptr;  ///< what it may send again
    Journal* journal = nullptr;               ///< where a model that journals writes, if this may be undone
    bool dry = false;                         ///< only to see what it would send

    void enter(std::uint32_t place) {
        local = place;
        lp = partition.placement_.lp_of(partition.self_, place);
    }

    [[nodiscard]] std::uint32_t self() const { return lp; }
    [[nodiscard]] std::uint32_t sent() const { return record->sequence; }

    [[gnu::always_inline]] void send(std::uint32_t destination, Time time, std::uint16_t code) {
        const Placement::Place place = check(destination, time);
        const Sent sent{time, destination, code};
        if (dry) [[unlikely]] {
            count(sent);
            return;
        }
        if (withdrawn == nullptr || !sends_again(sent, nullptr)) [[likely]] {
            const Record told{time, place.local, lp, record->sequence, code};
            if (place.partition == partition.self_) [[likely]] {
                partition.put(told);
            } else {
                partition.tell_elsewhere(place.partition, told);
            }
        }
        count(sent);
    }

    template <class... Parts>
    [[gnu::always_inline]] void send(std::uint32_t destination, Time time, const Parts&... parts) {
        const Placement::Place place = check(destination, time);
        const Payload payload(parts...);
        const Sent sent{time, destination, Stored::in_parcel};
        if (dry) [[unlikely]] {
            count(sent);
            return;
        }
        if (withdrawn == nullptr || !sends_again(sent, &payload)) [[likely]] {
            Record told{time, place.local, lp, record->sequence, Stored::in_parcel};
            if (place.partition == partition.self_) [[likely]] {
                told.sequence = partition.parcels_.put(record->sequence, payload);
                partition.put(told);
            } else {
                partition.outbox_.tell(place.partition, told, partition.grid_.cell_of(time), payload);
            }
        }
        if (logged && partition.lazy_) {
            partition.sent_payloads_.push_back(payload);
        }
        count(sent);
    }

    [[gnu::noinline]] bool sends_again(const Sent& sent, const Payload* payload) const {
        const auto take_back = [this](const SentBy& old) {
            partition.take_back(old);
            partition.take_back_all();
        };
        const bool again = withdrawn->sends_again(sent, record->sequence, payload, take_back);
        partition.statistics_.sent_again += again ? 1 : 0;
        return again;
    }

    /// To be put out when it is certain.
    void emit(const Emitted& emitted) {
        if (logged) {
            partition.emitted_.push_back(emitted);
        } else {
            partition.put_out(emitted);
        }
    }

    [[gnu::always_inline]] Placement::Place check(std::uint32_t destination, Time time) const {
        const bool too_early = partition.lookahead_ ? time < until : partition.grid_.cell_of(time) < cell;
        if (too_early || destination >= partition.placement_.lps()) [[unlikely]] {
            refuse_event(lp, destination, time, partition.placement_.lps(),
                         partition.lookahead_ ? "that violates the lookahead" : "that is in the past");
        }
        return partition.placement_.of(destination);
    }

    [[gnu::always_inline]] void count(const Sent& sent) const {
        if (logged) {
            partition.sent_.push_back(sent);
        }
        if (++record->sequence == 0) [[unlikely]] {
            refuse_more_events(lp);
        }
    }
};

}  // namespace idlewave::pdes
