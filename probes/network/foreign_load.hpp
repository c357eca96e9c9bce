// The share of a process's CPU that others use: the system's busy time, less the process's own time, and less
// interrupts, which on an otherwise idle CPU are those of the timed messages.
#pragma once

#include <sys/resource.h>

#include <algorithm>

#include "common/proc.hpp"
#include "common/ticks.hpp"
#include "common/usage.hpp"

namespace idlewave::probe::network {

class ForeignLoad {
  public:
    // cpu < 0: the process is not bound to one CPU, so the share is not known.
    explicit ForeignLoad(int cpu) : cpu_(cpu) { since_last(); }

    // The share of the time since the last known share, 0 to 1. It is negative if it is not known, as yet or at all:
    // the system counts in hundredths of a second, and over a few of them the errors above 0 would seem to be load.
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
