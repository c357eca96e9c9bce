#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pdes/placement.hpp"

namespace idlewave::pdes {

/// Where the LPs of one process lie in memory: each in a slot. A block of slots belongs to one thread. On one process
/// without a placement of the user's, LP i has slot i, and threads own blocks in turn, which balances most models;
/// otherwise the LPs of each partition lie together, from the beginning of a block on.
class LpLayout {
  public:
    /// The partitions of this process are the `threads` ones from `first` on.
    LpLayout(const Placement& placement, std::uint32_t first, std::uint32_t threads, unsigned block_shift,
             bool round_robin)
        : placement_(placement),
          first_(first),
          threads_(threads),
          block_shift_(block_shift),
          round_robin_(round_robin) {
        if (round_robin) {
            slots_ = placement.lps();
            return;
        }
        const std::uint32_t block = 1U << block_shift;
        for (std::uint32_t i = 0; i < threads; ++i) {
            begin_.push_back(slots_);
            slots_ += (placement.size(first + i) + block - 1) / block * block;
            owner_.resize(slots_ >> block_shift, i);
        }
    }

    [[nodiscard]] std::uint32_t slots() const { return slots_; }
    [[nodiscard]] bool round_robin() const { return round_robin_; }

    /// Whether a partition is one of this process.
    [[nodiscard]] bool has(std::uint32_t partition) const { return partition - first_ < threads_; }
    /// The slot of an LP of this process.
    [[nodiscard]] std::uint32_t slot_of(const Placement::Position& position) const {
        return slot_of(position.partition - first_, position.local);
    }
    /// `local`: its index among the LPs that the placement gives the thread.
    [[nodiscard]] std::uint32_t slot_of(std::uint32_t thread, std::uint32_t local) const {
        return begin_[thread] + local;
    }
    [[nodiscard]] std::uint32_t slot_of(std::uint32_t lp) const {
        return round_robin_ ? lp : slot_of(placement_.of(lp));
    }
    [[nodiscard]] std::uint32_t lp_of(std::uint32_t slot) const {
        if (round_robin_) {
            return slot;
        }
        const std::uint32_t owner = owner_[slot >> block_shift_];
        return placement_.lp_of(first_ + owner, slot - begin_[owner]);
    }

    /// Whether a thread executes an LP, which may be of another process.
    [[nodiscard]] bool owns(std::uint32_t thread, std::uint32_t lp) const {
        return round_robin_ ? owner_of(lp >> block_shift_) == thread : placement_.of(lp).partition == first_ + thread;
    }
    /// The thread that executes a block.
    [[nodiscard]] std::uint32_t owner_of(std::uint32_t block) const {
        return threads_ == 1 ? 0 : round_robin_ ? block % threads_ : owner_[block];
    }
    /// LPs of a block; the slots behind them are empty.
    [[nodiscard]] std::uint32_t lps_of(std::uint32_t block) const {
        const std::uint32_t first = block << block_shift_;
        const std::uint32_t size = 1U << block_shift_;
        if (round_robin_) {
            return std::min(slots_ - first, size);
        }
        const std::uint32_t owner = owner_[block];
        return std::min(placement_.size(first_ + owner) - (first - begin_[owner]), size);
    }

  private:
    const Placement& placement_;
    std::uint32_t first_;
    std::uint32_t threads_;
    unsigned block_shift_;
    bool round_robin_;
    std::uint32_t slots_ = 0;
    std::vector<std::uint32_t> begin_;  ///< first slot of each partition of this process
    std::vector<std::uint32_t> owner_;  ///< thread of each block
};

}  // namespace idlewave::pdes
