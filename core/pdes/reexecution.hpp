#pragma once

#include <cstdint>

#include "base/huge_memory.hpp"

namespace idlewave::pdes {

/// Without a lookahead: the LPs of the block that were executed in the present cell already, and were rolled back when
/// new events came for it. Their events are queued again, so they are skipped now.
class ReexecutedLps {
  public:
    /// `lps` of the partition, or 0 if the model has a lookahead.
    explicit ReexecutedLps(std::uint32_t lps) : requeued_in_(lps) {}

    void enter_block() { ++block_; }
    void requeue(std::uint32_t local) { requeued_in_[local] = block_; }
    [[nodiscard]] bool is_requeued(std::uint32_t local) const { return requeued_in_[local] == block_; }

  private:
    HugeArray<std::uint64_t> requeued_in_;  ///< by LP: the last block in which it was requeued
    std::uint64_t block_ = 0;               ///< blocks executed so far
};

}  // namespace idlewave::pdes
