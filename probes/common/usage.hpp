// The processor time of a thread or a process.
#pragma once

#include <sys/resource.h>

namespace idlewave::probe {

// Seconds of processor time, in user mode and in the kernel.
inline double processor_seconds(const rusage& usage) {
    const auto of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace idlewave::probe
