#pragma once

#include <algorithm>
#include <cstdint>

namespace idlewave::pdes {

/// How far a partition goes ahead of GVT: less far when much of what it did was undone, further when little was.
class Throttle {
  public:
    /// In cells.
    [[nodiscard]] std::int64_t cells_ahead() const { return ahead_; }
    /// After how many events GVT is asked for.
    [[nodiscard]] std::uint64_t interval() const { return interval_; }

    /// `handled`: all events that were not undone so far; `undone`: those that were.
    void adapt(std::uint64_t handled, std::uint64_t undone) {
        const std::uint64_t more = handled - handled_;
        const std::uint64_t less = undone - undone_;
        if (more + less < fewest) {
            return;
        }
        handled_ = handled;
        undone_ = undone;
        if (less * 4 > more) {
            ahead_ = std::max<std::int64_t>(1, ahead_ / 2);
        } else if (less * 16 < more) {
            ahead_ = std::min(ahead_ + 1, furthest);
        }
    }

    /// More cells than that it never is.
    static constexpr std::int64_t furthest = 48;

  private:
    static constexpr std::uint64_t fewest = 1 << 10;

    std::int64_t ahead_ = 8;
    std::uint64_t interval_ = 1 << 12;
    std::uint64_t handled_ = 0;
    std::uint64_t undone_ = 0;
};

}  // namespace idlewave::pdes
