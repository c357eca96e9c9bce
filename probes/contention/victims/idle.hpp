// No victim: sleeps, so that only the probes of memory and the counters are sampled.
#pragma once

#include <time.h>

#include "contention/victims/victim.hpp"

namespace idlewave::probe::contention {

class Idle : public Victim {
  public:
    explicit Idle(double seconds) : seconds_(seconds) {}

    void reset() override {}

    double run() override {
        const auto whole = static_cast<time_t>(seconds_);
        const timespec length{whole, static_cast<long>((seconds_ - static_cast<double>(whole)) * 1e9)};
        nanosleep(&length, nullptr);
        return 0;
    }

    [[nodiscard]] bool is_right(double /*result*/) const override { return true; }

  private:
    double seconds_;
};

}  // namespace idlewave::probe::contention
