#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/committed_records.hpp"
#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/model_errors.hpp"
#include "pdes/payload_store.hpp"
#include "pdes/process_link.hpp"
#include "pdes/process_memory.hpp"

namespace idlewave::pdes {

/// The context of a model while the conservative scheduler executes an LP. An event goes to the thread's calendar, or
/// to another process.
template <WindowModel M>
class ConservativeContext {
  public:
    using Payload = typename M::Payload;
    using Emitted = typename EmittedOf<M>::Type;

    /// The parts of a thread that it sends events to.
    struct Parts {
        const M& model;
        const ProcessMemory<M>& memory;
        CalendarQueue& calendar;
        PayloadPool<Payload>& payloads;
        ProcessLink<M>& link;
        CommittedRecords<M>& records;
        typename M::Worker& worker;
    };

    ConservativeContext(const Parts& parts, Time window_end)
        : parts_(parts),
          window_end_(window_end),
          lps_(parts.memory.placement().lps()),
          round_robin_(parts.memory.layout().round_robin()) {}

    void enter(std::uint32_t number, Lp<typename M::State>& record) {
        lp_ = number;
        record_ = &record;
    }

    [[nodiscard]] Time window_end() const { return window_end_; }
    [[nodiscard]] Lp<typename M::State>& record() const { return *record_; }
    [[nodiscard]] std::uint32_t self() const { return lp_; }
    [[nodiscard]] std::uint32_t sent() const { return record_->sequence; }
    static constexpr void* undo_data = nullptr;  ///< nothing is rolled back

    [[gnu::always_inline]] void send(std::uint32_t destination, Time time, std::uint16_t code) {
        std::uint32_t slot = destination;
        if (check(destination, time) && !parts_.memory.find_slot(destination, slot)) [[unlikely]] {
            parts_.link.send(parts_.model, parts_.memory.placement().of(destination),
                             {time, 0, lp_, {record_->sequence}, code}, parts_.memory.grid().cell_of(time));
        } else {
            parts_.calendar.push(time, slot, lp_, record_->sequence, code);
        }
        count();
    }

    /// `payload`: arguments of a Payload's constructor, which makes it in its place.
    template <class... Arguments>
    [[gnu::always_inline]] void send(std::uint32_t destination, Time time, const Arguments&... payload) {
        std::uint32_t slot = destination;
        if (check(destination, time) && !parts_.memory.find_slot(destination, slot)) [[unlikely]] {
            parts_.link.send(parts_.memory.placement().of(destination),
                             {time, 0, lp_, {record_->sequence}, QueuedEvent::pooled},
                             parts_.memory.grid().cell_of(time), Payload(payload...));
        } else {
            const std::uint32_t payload_slot = parts_.payloads.put(record_->sequence, payload...);
            parts_.calendar.push(time, slot, lp_, payload_slot, QueuedEvent::pooled);
        }
        count();
    }

    void emit(const Emitted& emitted) { parts_.records.commit(parts_.worker, emitted); }

  private:
    /// Returns whether the slot differs from the LP's number.
    [[gnu::always_inline]] bool check(std::uint32_t destination, Time time) const {
        if (time < window_end_ || destination >= lps_) [[unlikely]] {
            throw_invalid_send(lp_, destination, time, time_unit<M>, lps_, "that violates the lookahead");
        }
        return !round_robin_;
    }
    [[gnu::always_inline]] void count() const {
        if (++record_->sequence == 0) [[unlikely]] {
            throw_too_many_events(lp_);
        }
    }

    Parts parts_;
    Time window_end_;
    std::uint32_t lps_;  ///< of the run; with the next member a copy close at hand, as each event reads it
    bool round_robin_;
    std::uint32_t lp_ = 0;
    Lp<typename M::State>* record_ = nullptr;
};

}  // namespace idlewave::pdes
