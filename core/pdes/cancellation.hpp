#pragma once

#include <cstdint>
#include <vector>

#include "pdes/event.hpp"
#include "pdes/lazy_cancellation.hpp"
#include "pdes/undo_records.hpp"

namespace idlewave::pdes {

/// The events of rolled back executions that are to be cancelled: at once (aggressive cancellation), or only once their
/// LP does not send them again (lazy cancellation).
template <class Payload>
class Cancellation {
  public:
    explicit Cancellation(bool lazy) : lazy_(lazy) {}

    [[nodiscard]] bool is_lazy() const { return lazy_; }

    /// An execution of the LP `source` was rolled back.
    void add(UndoRecord& record, std::uint32_t source) {
        if (lazy_) {
            queues_.add(record, source);
            return;
        }
        std::uint32_t sequence = record.sequence;
        for (const SentEvent& sent : record.sent()) {
            pending_.push_back({sent, sequence++, source});
        }
    }

    /// Calls `cancel` with each event that has to be cancelled now; `cancel` may add more.
    template <class Cancel>
    void each_pending(Cancel cancel) {
        while (!pending_.empty()) {
            const CancelledEvent cancelled = pending_.back();
            pending_.pop_back();
            cancel(cancelled);
        }
    }

    /// The events that an LP may send again, or null.
    [[nodiscard]] LazyQueue<Payload>* queue_of(std::uint32_t local) { return queues_.find(local); }

    /// The LP was executed in `cell` again: what it did not send again is passed to `cancel`.
    template <class Cancel>
    void finish(LazyQueue<Payload>& queue, std::uint32_t local, std::int64_t cell, Cancel cancel) {
        queue.cancel_up_to(cell, cancel);
        if (queue.empty()) {
            queues_.remove(local);
        }
    }

  private:
    bool lazy_;
    LazyCancellation<Payload> queues_;
    std::vector<CancelledEvent> pending_;
};

}  // namespace idlewave::pdes
