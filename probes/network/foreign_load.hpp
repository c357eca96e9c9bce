// How much of its CPU a process shares with others: what the system counts as busy, less what is its own, and less
// interrupts, which on an otherwise idle CPU are those of the very messages that are timed.
#pragma once

#include <sys/resource.h>

#include <algorithm>

#include "common/proc.hpp"
#include "common/ticks.hpp"
#include "common/usage.hpp"

namespace idlewave::probe::network {

class ForeignLoad {
  public:
    // cpu < 0: it is not bound to one, so nothing can be told.
    explicit ForeignLoad(int cpu) : cpu_(cpu) { since_last(); }

    // The share of the time since it was last told, 0 to 1; negative where it cannot be told, as yet or at all: the
    // system counts in hundredths of a second, and of few of them the errors above 0 would seem to be load.
    double since_last() {
        const double wall = 1e-9 * static_cast<double>(nanoseconds(CLOCK_MONOTONIC));
        if (cpu_ < 0 || wall - wall_ < least_seconds) return -1;
        const CpuTime time = read_cpu_time(cpu_);
        const double busy = time.busy - time.interrupts + time.steal;
        const double own = own_seconds();
        const double foreign = (busy - busy_) - (own - own_);
        const double share = foreign / (wall - wall_);
        busy_ = busy;
        own_ = own;
        wall_ = wall;
        return std::clamp(share, 0.0, 1.0);
    }

  private:
    static constexpr double least_seconds = 0.5;

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

}  // namespace idlewave::probe::network
