#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace idlewave::pdes {

/// Who executes a window: all threads, each its own LPs, or one thread the LPs of all, while the others sleep.
enum class WindowThreads : std::uint8_t { all, one };

/// Chooses whether all threads execute the next windows or one: which takes less time for an event. Threads wait for
/// each other once a window. Where windows have few events, or where another program uses a thread's core, that takes
/// longer than a further thread saves. Windows are timed for a millisecond at a time. What takes longer is tried again
/// after twenty times the time that the last trial of it took, so trials take a twentieth of the time at most; after
/// twice as many for each trial that has confirmed the ones before.
class ThreadChoice {
  public:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] WindowThreads threads() const { return threads_; }

    /// After a window: `executed` events so far, at `now`.
    void count(std::uint64_t executed, Clock::time_point now) {
        if (++windows_ == 1) {
            began_ = now;
            executed_ = executed;
            return;
        }
        const Clock::duration taken = now - began_;
        if (taken < trial) {
            return;
        }
        if (executed > executed_) {
            cost_of(threads_) = static_cast<double>(taken.count()) / static_cast<double>(executed - executed_);
            choose(taken, now);
        }
        windows_ = 0;
    }

  private:
    static constexpr std::chrono::microseconds trial{1000};
    static constexpr int least_apart = 20;  ///< from a trial to the next: times its duration
    static constexpr int most_apart = 320;

    [[nodiscard]] double& cost_of(WindowThreads threads) { return costs_[static_cast<std::size_t>(threads)]; }
    [[nodiscard]] static WindowThreads other(WindowThreads threads) {
        return threads == WindowThreads::all ? WindowThreads::one : WindowThreads::all;
    }

    /// After windows that took `taken`.
    void choose(Clock::duration taken, Clock::time_point now) {
        const WindowThreads better =
            cost_of(WindowThreads::one) < cost_of(WindowThreads::all) ? WindowThreads::one : WindowThreads::all;
        if (threads_ != better) {  // either a trial is over, or what took less time takes more now
            apart_ = better == better_ ? std::min(2 * apart_, most_apart) : least_apart;
            better_ = threads_ = better;
            next_trial_ = now + apart_ * taken;
        } else if (now >= next_trial_) {
            threads_ = other(better);
        }
    }

    WindowThreads threads_ = WindowThreads::all;
    WindowThreads better_ = WindowThreads::all;  ///< by the last trial
    int apart_ = least_apart;
    std::array<double, 2> costs_{};  ///< of an event, in ticks of the clock; 0: not tried yet
    Clock::time_point next_trial_;   ///< of what takes longer
    std::uint64_t windows_ = 0;
    std::uint64_t executed_ = 0;
    Clock::time_point began_;
};

}  // namespace idlewave::pdes
