#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace idlewave::pdes {

/// Chooses of two ways to execute events the one that takes less time for an event. `Way` is an enumeration of two, of
/// which the first is chosen at the beginning. The chosen way is timed for a millisecond at a time; its time is a mean
/// of the last sixteen, since a single one may be long because of another program. The other way is tried, for a
/// millisecond, when the mean becomes longer than its last trial was; and from time to time: after forty times the time
/// that its last trial took, and after twice as many for each trial in a row that it has lost.
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
        if (taken < shortest || events <= events_) {  // without an event it takes no time: it is timed on
            return;
        }
        timing_of(chosen_).add(taken, events - events_);
        choose(now);
        calls_ = 0;
    }

  private:
    static constexpr std::chrono::microseconds shortest{1000};
    static constexpr std::chrono::microseconds longest_counted{2000};  ///< of a trial, for the time to the next
    static constexpr int least_apart = 40;                             ///< from a trial to the next: times its duration
    static constexpr int most_apart = 320;
    static constexpr Way first = Way{0};
    static constexpr Way second = Way{1};

    /// How long a way took, the last times.
    class Timing {
      public:
        void add(Clock::duration taken, std::uint64_t events) {
            constexpr double decay = 15.0 / 16;
            last_ = taken;
            ticks_ = decay * ticks_ + static_cast<double>(taken.count());
            events_ = decay * events_ + static_cast<double>(events);
        }
        [[nodiscard]] Clock::duration last() const { return last_; }
        [[nodiscard]] bool is_known() const { return events_ > 0; }
        /// Ticks of the clock for an event.
        [[nodiscard]] double mean() const { return ticks_ / events_; }

      private:
        Clock::duration last_{};
        double ticks_ = 0;
        double events_ = 0;
    };

    [[nodiscard]] Timing& timing_of(Way way) { return timings_[static_cast<std::size_t>(way)]; }

    [[nodiscard]] static Way other(Way way) { return way == first ? second : first; }

    void choose(Clock::time_point now) {
        Timing& others = timing_of(other(faster_));
        const bool other_takes_less = others.is_known() && others.mean() < timing_of(faster_).mean();
        if (chosen_ != faster_) {
            end_trial(other_takes_less, now);
        } else if (other_takes_less || now >= next_trial_) {
            others = {};
            chosen_ = other(faster_);
        }
    }

    void end_trial(bool won, Clock::time_point now) {
        apart_ = won ? least_apart : std::min(2 * apart_, most_apart);
        faster_ = chosen_ = won ? other(faster_) : faster_;
        next_trial_ = now + apart_ * std::min<Clock::duration>(timing_of(other(faster_)).last(), longest_counted);
    }

    Way chosen_ = first;
    Way faster_ = first;           ///< as far as is known
    int apart_ = least_apart / 2;  ///< the first trial doubles it
    std::array<Timing, 2> timings_;
    Clock::time_point next_trial_;  ///< of the slower one
    std::uint64_t calls_ = 0;       ///< since the chosen way is timed
    std::uint64_t events_ = 0;      ///< when that began
    Clock::time_point began_;
};

}  // namespace idlewave::pdes
