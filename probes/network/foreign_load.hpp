// How much of its CPU a process shares with others: what the system counts as busy, less what is its own, and less
// interrupts, which on an otherwise idle CPU are those of the very messages that are timed.
#pragma once

#include <sys/resource.h>

#include <algorithm>

#include "common/proc.hpp"
#include "common/ticks.hpp"
#include "common/usage.hpp"

namespace idlewave::network {

class ForeignLoad {
  public:
    // cpu < 0: it is not bound to one, so nothing can be told.
    explicit ForeignLoad(int cpu) : cpu_(cpu) { since_last(); }

    // The share of the time since the last call, 0 to 1; negative where it cannot be told. The system counts in
    // hundredths of a second, so over less than some tenths it is coarse.
    double since_last() {
        if (cpu_ < 0) return -1;
        const CpuTime time = read_cpu_time(cpu_);
        const double busy = time.busy - time.interrupts + time.steal;
        const double own = own_seconds();
        const double wall = 1e-9 * static_cast<double>(nanoseconds(CLOCK_MONOTONIC));
        const double foreign = (busy - busy_) - (own - own_);
        const double share = foreign / std::max(wall - wall_, 0.01);
        busy_ = busy;
        own_ = own;
        wall_ = wall;
        return std::clamp(share, 0.0, 1.0);
    }

  private:
    static double own_seconds() {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return processor_seconds(usage);
    }

    int cpu_;
    double busy_ = 0;
    double own_ = 0;
    double wall_ = 0;
};

}  // namespace idlewave::network
