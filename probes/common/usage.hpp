// What a thread or a process has used of its processors.
#pragma once

#include <sys/resource.h>

namespace idlewave::probe {

// Seconds of computation, its own and the system's for it.
inline double processor_seconds(const rusage& usage) {
    const auto of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace idlewave::probe
