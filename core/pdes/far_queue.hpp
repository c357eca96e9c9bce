#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace idlewave::pdes {

/// An event whose cell has no bucket yet.
struct FarEvent {
    Time time = 0;
    std::uint32_t lp = 0;
    std::uint32_t source = 0;
    std::uint32_t sequence = 0;
    std::uint16_t code = 0;
};

/// Events of later rows of cells: a ring of rows, each only appended to and taken whole, and a heap for what lies
/// beyond the ring.
class FarQueue {
  public:
    static constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();

    /// `row` is not before those that were taken.
    void push(const FarEvent& event, std::int64_t row) {
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

    /// Gives all events up to and including `last` to `use`, those of one row in the order in which they came; from now
    /// on no event of these rows may come.
    template <class Use>
    void take_rows(std::int64_t last, Use use) {
        while (!beyond_.empty() && beyond_.top().row <= last) {  // came before what is in the ring
            use(beyond_.top().event);
            beyond_.pop();
        }
        std::int64_t row = first_in_ring();
        while (row <= last) {
            const auto slot = static_cast<std::size_t>(row % ring_size);
            const std::vector<FarEvent> events = std::move(rows_[slot]);
            rows_[slot] = {};
            occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
            in_ring_ -= events.size();
            for (const FarEvent& event : events) {
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
        FarEvent event;

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
    std::vector<std::vector<FarEvent>> rows_;
    std::array<std::uint64_t, ring_size / 64> occupied_{};  ///< a bit a row
    std::priority_queue<Beyond> beyond_;
    std::uint64_t pushed_ = 0;  ///< to `beyond_`
};

}  // namespace idlewave::pdes
