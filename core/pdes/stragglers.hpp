#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "pdes/event.hpp"

namespace idlewave::pdes {

/// Stragglers and anti-messages that come while an LP or a block of LPs is executed. The model's worker can undo
/// nothing while it executes an LP, and the events of the present cell and block are in order only once the block is
/// done.
class Stragglers {
  public:
    void enter_lp() { in_lp_ = true; }
    void leave_lp() { in_lp_ = false; }
    void enter_block(std::int64_t cell, std::uint32_t block) {
        cell_ = cell;
        block_ = block;
    }
    void leave_block() { cell_ = none; }

    /// Keeps the event, if an LP is executed now; returns whether it does.
    bool defers(const PendingEvent& event) {
        if (in_lp_) {
            deferred_.push_back(event);
        }
        return in_lp_;
    }
    /// Keeps the event until the end of the block, if it is for the cell and block that are executed now.
    bool defers_to_end_of_block(const PendingEvent& event, std::int64_t cell, std::uint32_t block) {
        if (cell != cell_ || block != block_) {
            return false;
        }
        of_block_.push_back(event);
        return true;
    }

    [[nodiscard]] bool has_deferred() const { return !deferred_.empty(); }
    [[nodiscard]] std::vector<PendingEvent> take_deferred() { return std::exchange(deferred_, {}); }
    [[nodiscard]] std::vector<PendingEvent> take_of_block() { return std::exchange(of_block_, {}); }

  private:
    static constexpr std::int64_t none = -1;

    bool in_lp_ = false;
    std::int64_t cell_ = none;
    std::uint32_t block_ = 0;
    std::vector<PendingEvent> deferred_;
    std::vector<PendingEvent> of_block_;
};

}  // namespace idlewave::pdes
