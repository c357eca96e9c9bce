// The time of each phase: every moment between start and stop belongs to one.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace ft {

enum class Phase { initial_values, evolve, fft_x, fft_y, fft_z, exchange_1, exchange_2, checksum };
constexpr size_t phase_count = 8;
constexpr std::array<const char*, phase_count> phase_names{"initial values", "evolve",     "FFT x",      "FFT y",
                                                           "FFT z",          "exchange 1", "exchange 2", "checksum"};

class Phases {
  public:
    // What follows belongs to `phase`.
    void enter(Phase phase) {
        const auto now = Clock::now();
        spent_[static_cast<size_t>(phase_)] += now - since_;
        since_ = now;
        phase_ = phase;
    }
    // Forget all times; what follows belongs to `phase`.
    void start(Phase phase) {
        spent_.fill({});
        phase_ = phase;
        since_ = Clock::now();
    }
    // What was spent in each phase, in seconds.
    std::array<double, phase_count> stop() {
        enter(phase_);
        std::array<double, phase_count> seconds{};
        for (size_t i = 0; i < phase_count; ++i) seconds[i] = std::chrono::duration<double>(spent_[i]).count();
        return seconds;
    }

  private:
    using Clock = std::chrono::steady_clock;

    std::array<Clock::duration, phase_count> spent_{};
    Phase phase_ = Phase::initial_values;
    Clock::time_point since_ = Clock::now();
};

}  // namespace ft
