#pragma once

#include <algorithm>
#include <cstdint>

namespace idlewave::pdes {

/// Limits how far a partition runs ahead of GVT: less far when many events were rolled back, further when few were.
class Throttle {
  public:
    /// Cells ahead of GVT.
    [[nodiscard]] std::int64_t cells_ahead() const { return ahead_; }
    /// Events after which a round of GVT begins.
    [[nodiscard]] std::uint64_t interval() const { return interval_; }

    /// `executed`: events so far that were not rolled back; `rolled_back`: those that were.
    void adapt(std::uint64_t executed, std::uint64_t rolled_back) {
        const std::uint64_t more = executed > executed_ ? executed - executed_ : 0;
        const std::uint64_t less = rolled_back - rolled_back_;
        if (more + less < fewest) {
            return;
        }
        count_from(executed, rolled_back);
        if (less * 4 > more) {
            ahead_ = std::max<std::int64_t>(1, ahead_ / 2);
        } else if (less * 16 < more) {
            ahead_ = std::min(ahead_ + 1, furthest);
        }
    }

    /// What was executed and rolled back until now says nothing about how far it may run ahead.
    void count_from(std::uint64_t executed, std::uint64_t rolled_back) {
        executed_ = executed;
        rolled_back_ = rolled_back;
    }

    /// The furthest it ever is.
    static constexpr std::int64_t furthest = 48;

  private:
    static constexpr std::uint64_t fewest = 1 << 10;

    std::int64_t ahead_ = 8;
    std::uint64_t interval_ = 1 << 12;
    std::uint64_t executed_ = 0;
    std::uint64_t rolled_back_ = 0;
};

}  // namespace idlewave::pdes
