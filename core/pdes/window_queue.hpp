#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// A ring of buckets that are only appended to, each taken whole, and which of them are not empty.
template <class Item>
class BucketRing {
  public:
    static constexpr std::int64_t size = 1 << 12;

    BucketRing() : buckets_(size) {}

    [[nodiscard]] bool empty() const { return count_ == 0; }

    void append(std::int64_t number, const Item& item) {
        const auto slot = static_cast<std::size_t>(number & (size - 1));
        std::vector<Item>& bucket = buckets_[slot];
        if (bucket.empty()) {
            occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
            if (bucket.capacity() == 0 && !spare_.empty()) {
                bucket = std::move(spare_.back());
                spare_.pop_back();
            }
        }
        bucket.push_back(item);
        ++count_;
    }

    /// The first bucket from `number` on that is not empty; there is one, less than `size` further.
    [[nodiscard]] std::int64_t first(std::int64_t number) const {
        const auto begin = static_cast<std::size_t>(number & (size - 1));
        std::size_t at = begin / 64;
        std::uint64_t word = occupied_[at] & (~std::uint64_t{0} << (begin % 64));
        while (word == 0) {
            at = (at + 1) % occupied_.size();
            word = occupied_[at];
        }
        const std::size_t slot = at * 64 + static_cast<std::size_t>(std::countr_zero(word));
        return number + static_cast<std::int64_t>((slot + size - begin) & (size - 1));
    }

    [[nodiscard]] const std::vector<Item>& bucket(std::int64_t number) const {
        return buckets_[static_cast<std::size_t>(number & (size - 1))];
    }

    /// Takes a bucket's items; `items` is overwritten, its memory used again.
    void take(std::int64_t number, std::vector<Item>& items) {
        const auto slot = static_cast<std::size_t>(number & (size - 1));
        items.clear();
        std::swap(items, buckets_[slot]);
        if (buckets_[slot].capacity() > 0) {
            spare_.push_back(std::move(buckets_[slot]));
            buckets_[slot] = {};
        }
        occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
        count_ -= items.size();
    }

  private:
    std::vector<std::vector<Item>> buckets_;
    std::array<std::uint64_t, size / 64> occupied_{};  ///< a bit a bucket
    std::vector<std::vector<Item>> spare_;
    std::size_t count_ = 0;
};

/// Pending events in buckets of equal time windows. A window is no wider than the lookahead, so nothing is ever
/// inserted into the window that is being handled. The windows of the present block have a bucket each; later blocks
/// of windows one, which is dealt out when its turn comes; what lies beyond those waits in a heap.
template <class Payload>
class WindowQueue {
  public:
    using Item = Event<Payload>;

    /// `lookahead` > 0. Windows are a power of two wide, so that an event's window is a shift away.
    explicit WindowQueue(Time lookahead)
        : shift_(static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(lookahead)) - 1)) {}

    [[nodiscard]] std::int64_t window_of(Time time) const { return time >> shift_; }
    [[nodiscard]] Time window_end(std::int64_t window) const {
        const std::int64_t next = window + 1;
        return next > (never >> shift_) ? never : next << shift_;
    }

    /// Add an event of a window after the one that was taken last.
    void push(const Item& item) {
        const std::int64_t window = window_of(item.time);
        const std::int64_t block = window / Ring::size;
        if (block == block_) {
            near_.append(window, item);
        } else if (block < block_ + Ring::size) {
            far_.append(block, item);
        } else {
            beyond_.push(item);
        }
    }

    /// Take all events of the earliest window that has any, in no order. False when nothing is pending.
    bool pop(std::vector<Item>& items, std::int64_t& window) {
        items.clear();
        if (near_.empty()) {
            if (far_.empty() && beyond_.empty()) {
                return false;
            }
            open_next_block();
        }
        window = near_.first(next_);
        near_.take(window, items);
        next_ = window + 1;
        return true;
    }

    /// The next events, as far as they are known and near; for fetching ahead.
    [[nodiscard]] std::span<const Item> coming() const {
        return near_.empty() ? std::span<const Item>{} : near_.bucket(near_.first(next_));
    }

  private:
    using Ring = BucketRing<Item>;

    struct Later {
        bool operator()(const Item& a, const Item& b) const { return a.time > b.time; }
    };

    [[nodiscard]] std::int64_t block_of(const Item& item) const { return window_of(item.time) / Ring::size; }

    void open_next_block() {
        std::int64_t block = far_.empty() ? block_of(beyond_.top()) : far_.first(block_ + 1);
        if (!beyond_.empty()) {
            block = std::min(block, block_of(beyond_.top()));
        }
        const bool in_far = !far_.empty() && far_.first(block_ + 1) == block;
        block_ = block;
        next_ = block * Ring::size;
        if (in_far) {
            far_.take(block, dealt_);
            for (const Item& item : dealt_) {
                near_.append(window_of(item.time), item);
            }
        }
        while (!beyond_.empty() && block_of(beyond_.top()) == block) {
            near_.append(window_of(beyond_.top().time), beyond_.top());
            beyond_.pop();
        }
    }

    unsigned shift_;
    std::int64_t block_ = 0;  ///< its windows are in near_
    std::int64_t next_ = 0;   ///< the window after the one that was taken last
    Ring near_;               ///< by window
    Ring far_;                ///< by block
    std::priority_queue<Item, std::vector<Item>, Later> beyond_;
    std::vector<Item> dealt_;  ///< scratch
};

}  // namespace idlewave::pdes
