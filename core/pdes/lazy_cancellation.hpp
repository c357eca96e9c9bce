#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <unordered_map>

#include "pdes/event.hpp"
#include "pdes/undo_records.hpp"

namespace idlewave::pdes {

/// An event to be cancelled, with its sender.
struct CancelledEvent {
    SentEvent sent;
    std::uint32_t sequence = 0;
    std::uint32_t source = 0;
};

/// The events that an LP sent in executions that were rolled back, as long as it may send them again (lazy
/// cancellation, A. Gafni: Rollback mechanisms for optimistic distributed simulation systems, 1988). They are in the
/// order of their sequence, which begins where the LP now stands.
template <class Payload>
class LazyQueue {
  public:
    [[nodiscard]] bool empty() const { return sent_.empty(); }

    /// Adds the events of an execution that was rolled back. It lies before all those added earlier.
    void add(UndoRecord& record, std::uint32_t source) {
        std::deque<Sent> more;
        const std::byte* payload = record.payloads().data();
        std::uint32_t sequence = record.sequence;
        for (const SentEvent& sent : record.sent()) {
            Sent& item = more.emplace_back(Sent{{sent, sequence++, source}, record.cell, {}});
            if (sent.code == QueuedEvent::pooled) {
                std::memcpy(&item.payload, payload, sizeof(Payload));
                payload += sizeof(Payload);
            }
        }
        sent_.insert(sent_.begin(), more.begin(), more.end());
    }

    /// Returns whether the event that the LP sends now, with `payload` or null, was sent before: then it stays valid.
    /// Events that were sent before and now are not go to `cancel`.
    template <class Cancel>
    bool matches(const SentEvent& sent, std::uint32_t sequence, const Payload* payload, Cancel cancel) {
        while (!sent_.empty() && sent_.front().by.sequence <= sequence) {
            const Sent old = sent_.front();
            sent_.pop_front();
            if (old.by.sequence == sequence && old.by.sent == sent &&
                (payload == nullptr || equal(old.payload, *payload))) {
                return true;
            }
            cancel(old.by);
        }
        return false;
    }

    /// Passes the events that were sent in cells up to `cell`, which the LP has executed again, to `cancel`.
    template <class Cancel>
    void cancel_up_to(std::int64_t cell, Cancel cancel) {
        while (!sent_.empty() && sent_.front().cell <= cell) {
            const CancelledEvent old = sent_.front().by;
            sent_.pop_front();
            cancel(old);
        }
    }

  private:
    struct Sent {
        CancelledEvent by;
        std::int64_t cell = 0;  ///< in which the LP sent it
        Payload payload{};
    };

    /// Payloads that cannot be compared count as different, so their events are sent anew.
    static bool equal(const Payload& a, const Payload& b) {
        if constexpr (std::equality_comparable<Payload>) {
            return a == b;
        } else {
            return false;
        }
    }

    std::deque<Sent> sent_;
};

/// The lazy queues of the LPs of a partition that have one, by the LP's index.
template <class Payload>
class LazyCancellation {
  public:
    /// The queue of an LP, or null.
    [[nodiscard]] LazyQueue<Payload>* find(std::uint32_t local) {
        if (by_lp_.empty()) [[likely]] {
            return nullptr;
        }
        const auto found = by_lp_.find(local);
        return found == by_lp_.end() ? nullptr : &found->second;
    }

    void add(UndoRecord& record, std::uint32_t source) {
        if (record.sends > 0) {
            by_lp_[record.lp].add(record, source);
        }
    }

    void remove(std::uint32_t local) { by_lp_.erase(local); }

  private:
    std::unordered_map<std::uint32_t, LazyQueue<Payload>> by_lp_;
};

}  // namespace idlewave::pdes
