#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "pdes/cancellation.hpp"
#include "pdes/committed_records.hpp"
#include "pdes/event.hpp"
#include "pdes/horizon.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/model_errors.hpp"
#include "pdes/optimistic_lps.hpp"
#include "pdes/placement.hpp"
#include "pdes/statistics.hpp"

namespace idlewave::pdes {

/// The context of a model while an optimistic partition executes an LP. The events that it sends, and the records that
/// it emits, are in the undo log until the execution is committed. A trial execution sends and emits nothing.
template <WindowModel M>
struct OptimisticContext {
    using State = typename M::State;
    using Payload = typename M::Payload;
    using Emitted = typename EmittedOf<M>::Type;

    OptimisticLps<M>& lps;
    const Horizon& horizon;
    Statistics& counts;
    CommittedRecords<M>& records;
    Time until;
    std::int64_t cell;
    std::uint32_t lp = 0;     ///< number
    std::uint32_t local = 0;  ///< index in the partition
    Lp<State>* record = nullptr;
    bool logged = false;                          ///< the execution may be rolled back
    LazyQueue<Payload>* lazy_queue = nullptr;     ///< events that it may send again
    std::vector<std::byte>* undo_data = nullptr;  ///< for a model that undoes itself, if it may be rolled back
    std::vector<SentEvent>* trial = nullptr;      ///< of a trial execution, what it would send

    void enter(std::uint32_t index, Lp<State>& entered) {
        local = index;
        lp = lps.number_of(index);
        record = &entered;
    }

    [[nodiscard]] std::uint32_t self() const { return lp; }
    [[nodiscard]] std::uint32_t sent() const { return record->sequence; }

    [[gnu::always_inline]] void send(std::uint32_t destination, Time time, std::uint16_t code) {
        const Placement::Position position = check(destination, time);
        const SentEvent sent{time, destination, code};
        if (sends_all() || !is_suppressed(sent, nullptr)) [[likely]] {
            const PendingEvent event{time, position.local, lp, {record->sequence}, code};
            if (position.partition == lps.self()) [[likely]] {
                lps.deliver(event);
            } else {
                lps.send_remote(position.partition, event);
            }
        }
        count(sent);
    }

    template <class... Arguments>
    [[gnu::always_inline]] void send(std::uint32_t destination, Time time, const Arguments&... arguments) {
        const Placement::Position position = check(destination, time);
        const Payload payload(arguments...);
        const SentEvent sent{time, destination, QueuedEvent::pooled};
        if (sends_all() || !is_suppressed(sent, &payload)) [[likely]] {
            PendingEvent event{time, position.local, lp, {record->sequence}, QueuedEvent::pooled};
            if (position.partition == lps.self()) [[likely]] {
                event.payload_slot = lps.queue().payloads().put(record->sequence, payload);
                lps.deliver(event);
            } else {
                lps.send_remote(position.partition, event, payload);
            }
        }
        if (logged && lps.is_lazy()) {
            lps.undo().execution().sent_payloads.push_back(payload);
        }
        count(sent);
    }

    void emit(const Emitted& emitted) {
        if (logged) {
            lps.undo().execution().emitted.push_back(emitted);
        } else if (trial == nullptr) {
            records.commit(lps.worker(), emitted);
        }
    }

  private:
    [[nodiscard]] bool sends_all() const { return lazy_queue == nullptr && trial == nullptr; }

    /// Whether an event is not to be sent, by a trial execution, or because it is sent already.
    [[gnu::noinline]] bool is_suppressed(const SentEvent& sent, const Payload* payload) const {
        if (trial != nullptr) {
            trial->push_back(sent);
            return true;
        }
        const bool again = lazy_queue->matches(sent, record->sequence, payload,
                                               [this](const CancelledEvent& old) { lps.cancel_now(old); });
        counts.resent += again ? 1 : 0;
        return again;
    }

    [[gnu::always_inline]] Placement::Position check(std::uint32_t destination, Time time) const {
        const bool has_lookahead = horizon.has_lookahead();
        const bool too_early = has_lookahead ? time < until : lps.queue().grid().cell_of(time) < cell;
        if (too_early || destination >= lps.placement().lps()) [[unlikely]] {
            throw_invalid_send(lp, destination, time, time_unit<M>, lps.placement().lps(),
                               has_lookahead ? "that violates the lookahead" : "that is in the past");
        }
        return lps.placement().of(destination);
    }

    [[gnu::always_inline]] void count(const SentEvent& sent) const {
        if (logged) {
            lps.undo().execution().sent.push_back(sent);
        }
        if (++record->sequence == 0) [[unlikely]] {
            throw_too_many_events(lp);
        }
    }
};

}  // namespace idlewave::pdes
