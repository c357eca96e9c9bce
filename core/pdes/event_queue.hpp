#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "pdes/annihilation.hpp"
#include "pdes/block_events.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/chunks.hpp"
#include "pdes/delivery.hpp"
#include "pdes/event.hpp"
#include "pdes/model.hpp"
#include "pdes/payload_store.hpp"

namespace idlewave::pdes {

/// The pending events of a partition: the calendar queue, the payloads that do not fit into it, and the events of the
/// block that is executed.
template <WindowModel M>
class EventQueue {
  public:
    using Payload = typename M::Payload;

    /// `cell`: longest cell, > 0; `lps` of the partition.
    EventQueue(const M& model, Time cell, std::uint32_t lps)
        : grid_(cell, lps),
          calendar_(grid_, chunks_),
          block_(grid_),
          payloads_(store_),
          delivery_(model, payloads_),
          annihilation_(payloads_) {}

    [[nodiscard]] const Grid& grid() const { return grid_; }

    /// Adds an event or an anti-message of `cell`.
    [[gnu::always_inline]] void push(const PendingEvent& event, std::int64_t cell) {
        first_ = std::min(first_, cell);
        calendar_.push(event.time, event.lp, event.source, event.sequence, event.code);
    }

    /// The cell of the earliest event. Without buckets for it, it is the beginning of a row of cells.
    [[nodiscard]] std::int64_t first_cell() {
        first_ = calendar_.first(first_);
        return first_;
    }
    [[nodiscard]] bool has_buckets(std::int64_t cell) const { return calendar_.is_near(cell); }
    [[nodiscard]] bool has_events(std::int64_t cell) const { return calendar_.has(cell); }

    /// Moves the present to `cell`, before which no event is left.
    void advance(std::int64_t cell) {
        first_ = std::max(first_, cell);
        calendar_.advance(cell);
    }

    /// Takes the events of the first block with events in `cell`; returns the block.
    std::uint32_t take_block(std::int64_t cell) {
        const std::uint32_t block = calendar_.take_block(cell);
        block_.gather(calendar_, block, cell);
        return block;
    }
    /// Takes the events of a block, which may have none.
    void take_block(std::int64_t cell, std::uint32_t block) { block_.gather(calendar_, block, cell); }

    /// The events that were taken last, LP by LP; readable for BlockEvents::margin elements beyond the end.
    [[nodiscard]] std::span<const QueuedEvent> events() const { return block_.events(); }

    /// What is left of an LP's events in a cell that begins at `begins`, after its anti-messages.
    [[nodiscard, gnu::always_inline]] std::span<const QueuedEvent> remaining(std::span<const QueuedEvent> events,
                                                                             Time begins) {
        for (const QueuedEvent& event : events) {
            if (event.code == QueuedEvent::anti_message) [[unlikely]] {
                return annihilation_.remaining(events, begins);
            }
        }
        return events;
    }

    [[nodiscard]] Delivery<M>& delivery() { return delivery_; }
    [[nodiscard]] PayloadPool<Payload>& payloads() { return payloads_; }

    /// An event of a cell that begins at `begins`, outside of its bucket; `lp`: its receiver's index in the partition.
    [[nodiscard]] static PendingEvent pending(const QueuedEvent& event, Time begins, std::uint32_t lp) {
        return {begins + event.offset, lp, event.source, {event.sequence}, event.code};
    }

  private:
    Grid grid_;
    ChunkStore chunks_;
    CalendarQueue calendar_;
    BlockEvents block_;
    PayloadStore<Payload> store_;
    PayloadPool<Payload> payloads_;
    Delivery<M> delivery_;
    Annihilation<M> annihilation_;
    std::int64_t first_ = 0;  ///< no event lies in a cell before this one
};

}  // namespace idlewave::pdes
