#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace idlewave::pdes {

/// Chooses of two ways to execute events the one that takes less time for an event. `Way` is an enumeration of two, of
/// which the first is chosen at the beginning. The present way is timed for a millisecond at a time. What takes longer
/// is tried again after forty times the time that the last trial of it took, so trials take a fortieth of the time at
/// most; after twice as many for each trial that has confirmed the ones before. The better way is left only when it has
/// taken longer twice in a row: once may be another program's doing, for which it would be left for a hundred
/// milliseconds.
template <class Way>
class TimedChoice {
  public:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] Way chosen() const { return chosen_; }

    /// There were so many `events` so far, at `now`; called now and then.
    void count(std::uint64_t events, Clock::time_point now) {
        if (++calls_ == 1) {
            began_ = now;
            events_ = events;
            return;
        }
        const Clock::duration taken = now - began_;
        if (taken < trial || events <= events_) {  // without an event it takes no time: the trial goes on
            return;
        }
        cost_of(chosen_) = static_cast<double>(taken.count()) / static_cast<double>(events - events_);
        choose(taken, now);
        calls_ = 0;
    }

  private:
    static constexpr std::chrono::microseconds trial{1000};
    static constexpr int least_apart = 40;  ///< from a trial to the next: times its duration
    static constexpr int most_apart = 320;
    static constexpr Way first = Way{0};
    static constexpr Way second = Way{1};

    [[nodiscard]] double& cost_of(Way way) { return costs_[static_cast<std::size_t>(way)]; }

    /// After work that took `taken`.
    void choose(Clock::duration taken, Clock::time_point now) {
        const Way better = cost_of(second) < cost_of(first) ? second : first;
        if (chosen_ == better) {
            doubted_ = false;
            if (now >= next_trial_) {
                chosen_ = better == first ? second : first;
            }
            return;
        }
        const bool took_less = chosen_ == better_ && cost_of(better) > 0;  // and takes more now; else a trial is over
        if (took_less && !std::exchange(doubted_, true)) {
            return;
        }
        doubted_ = false;
        apart_ = better == better_ ? std::min(2 * apart_, most_apart) : least_apart;
        better_ = chosen_ = better;
        next_trial_ = now + apart_ * taken;
    }

    Way chosen_ = first;
    Way better_ = first;    ///< by the last trial
    bool doubted_ = false;  ///< the better way took longer, the last time
    int apart_ = least_apart;
    std::array<double, 2> costs_{};  ///< of an event, in ticks of the clock; 0: not tried yet
    Clock::time_point next_trial_;   ///< of what takes longer
    std::uint64_t calls_ = 0;        ///< in the present trial
    std::uint64_t events_ = 0;
    Clock::time_point began_;
};

}  // namespace idlewave::pdes
