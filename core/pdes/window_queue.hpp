#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// Pending events in buckets of equal time windows. A window is no wider than the lookahead, so nothing is ever
/// inserted into the window that is being handled, and a bucket is only appended to until it is taken whole.
/// Buckets of the near future stand in a ring; what lies beyond it waits in a heap.
template <class Payload>
class WindowQueue {
  public:
    using Item = Event<Payload>;

    /// `lookahead` > 0. Windows are a power of two wide, so that an event's window is a shift away.
    explicit WindowQueue(Time lookahead)
        : shift_(static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(lookahead)) - 1)),
          ring_(ring_size),
          occupied_(ring_size / 64) {}

    [[nodiscard]] std::int64_t window_of(Time time) const { return time >> shift_; }
    [[nodiscard]] Time window_end(std::int64_t window) const {
        const std::int64_t next = window + 1;
        return next > (never >> shift_) ? never : next << shift_;
    }

    /// Add an event of a window after the one that was taken last.
    void push(const Item& item) {
        const std::int64_t window = window_of(item.time);
        if (window >= base_ + ring_size) {
            beyond_.push(item);
            return;
        }
        append(window, item);
    }

    /// Take all events of the earliest window that has any, in no order. False when nothing is pending.
    bool pop(std::vector<Item>& items, std::int64_t& window) {
        items.clear();
        if (near_ == 0 && beyond_.empty()) {
            return false;
        }
        base_ = near_ == 0 ? window_of(beyond_.top().time) : first_occupied();
        while (!beyond_.empty() && window_of(beyond_.top().time) < base_ + ring_size) {
            append(window_of(beyond_.top().time), beyond_.top());
            beyond_.pop();
        }
        window = base_;
        const auto slot = static_cast<std::size_t>(base_ & (ring_size - 1));
        std::swap(items, ring_[slot]);
        if (ring_[slot].capacity() > 0) {
            spare_.push_back(std::move(ring_[slot]));
            ring_[slot] = {};
        }
        occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
        near_ -= items.size();
        ++base_;
        return true;
    }

  private:
    static constexpr std::int64_t ring_size = 1 << 14;

    struct Later {
        bool operator()(const Item& a, const Item& b) const { return a.time > b.time; }
    };

    void append(std::int64_t window, const Item& item) {
        const auto slot = static_cast<std::size_t>(window & (ring_size - 1));
        std::vector<Item>& bucket = ring_[slot];
        if (bucket.empty()) {
            occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
            if (bucket.capacity() == 0 && !spare_.empty()) {
                bucket = std::move(spare_.back());
                spare_.pop_back();
            }
        }
        bucket.push_back(item);
        ++near_;
    }

    /// The first window from base_ on whose bucket is not empty; there is one.
    [[nodiscard]] std::int64_t first_occupied() const {
        const auto begin = static_cast<std::size_t>(base_ & (ring_size - 1));
        std::uint64_t word = occupied_[begin / 64] & (~std::uint64_t{0} << (begin % 64));
        std::size_t at = begin / 64;
        while (word == 0) {
            at = (at + 1) % occupied_.size();
            word = occupied_[at];
        }
        const std::size_t slot = at * 64 + static_cast<std::size_t>(std::countr_zero(word));
        return base_ + static_cast<std::int64_t>((slot + ring_size - begin) & (ring_size - 1));
    }

    unsigned shift_;
    std::int64_t base_ = 0;  ///< the ring holds windows [base_, base_ + ring_size)
    std::size_t near_ = 0;   ///< events in the ring
    std::vector<std::vector<Item>> ring_;
    std::vector<std::uint64_t> occupied_;  ///< a bit a bucket
    std::vector<std::vector<Item>> spare_;
    std::priority_queue<Item, std::vector<Item>, Later> beyond_;
};

}  // namespace idlewave::pdes
