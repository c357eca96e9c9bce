#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "pdes/event.hpp"

namespace idlewave::pdes {

/// Events whose cell has no bucket yet, by row of cells: a ring of rows, to which events are appended and which are
/// taken whole, and a heap for events beyond the ring.
class OverflowQueue {
  public:
    static constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();

    /// Adds an event of `row`, which was not taken yet.
    void push(const PendingEvent& event, std::int64_t row) {
        if (row >= taken_ + ring_size) {
            beyond_.push({row, pushed_++, event});
            return;
        }
        if (rows_.empty()) {
            rows_.resize(ring_size);
        }
        const auto slot = static_cast<std::size_t>(row % ring_size);
        rows_[slot].push_back(event);
        occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
        ++in_ring_;
    }

    /// The first row that has an event, or `no_row`.
    [[nodiscard]] std::int64_t first_row() const {
        return std::min(first_in_ring(), beyond_.empty() ? no_row : beyond_.top().row);
    }

    /// Passes all events of the rows up to and including `last` to `use`, those of one row in the order in which they
    /// came. No event of these rows may be added from now on.
    template <class Use>
    void take_rows(std::int64_t last, Use use) {
        while (!beyond_.empty() && beyond_.top().row <= last) {  // added earlier than those in the ring
            use(beyond_.top().event);
            beyond_.pop();
        }
        std::int64_t row = first_in_ring();
        while (row <= last) {
            const auto slot = static_cast<std::size_t>(row % ring_size);
            const std::vector<PendingEvent> events = std::move(rows_[slot]);
            rows_[slot] = {};
            occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
            in_ring_ -= events.size();
            for (const PendingEvent& event : events) {
                use(event);
            }
            row = first_in_ring();
        }
        taken_ = std::max(taken_, last + 1);
    }

  private:
    static constexpr std::int64_t ring_size = 1 << 12;

    struct Beyond {
        std::int64_t row;
        std::uint64_t order;
        PendingEvent event;

        bool operator<(const Beyond& other) const {  // the earliest on top
            return row != other.row ? row > other.row : order > other.order;
        }
    };

    [[nodiscard]] std::int64_t first_in_ring() const {
        if (in_ring_ == 0) {
            return no_row;
        }
        const auto begin = static_cast<std::size_t>(taken_ % ring_size);
        std::size_t at = begin / 64;
        std::uint64_t word = occupied_[at] & (~std::uint64_t{0} << (begin % 64));
        while (word == 0) {
            at = (at + 1) % occupied_.size();
            word = occupied_[at];
        }
        const std::size_t slot = at * 64 + static_cast<std::size_t>(std::countr_zero(word));
        return taken_ + static_cast<std::int64_t>((slot + ring_size - begin) % ring_size);
    }

    std::int64_t taken_ = 0;  ///< rows before this one are taken
    std::size_t in_ring_ = 0;
    std::vector<std::vector<PendingEvent>> rows_;
    std::array<std::uint64_t, ring_size / 64> occupied_{};  ///< a bit for each row that has events
    std::priority_queue<Beyond> beyond_;
    std::uint64_t pushed_ = 0;  ///< events pushed to `beyond_`
};

}  // namespace idlewave::pdes
