// The processor time of a thread or a process, and the time for which a thread waited for a processor.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <optional>

namespace idlewave::probe {

// Seconds of processor time, in user mode and in the kernel.
inline double processor_seconds(const rusage& usage) {
    const auto of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

// The time in ns for which the calling thread could have run and another task had its core, as the kernel counts it;
// nothing where it does not. It says of a thread that runs that it has never run if it does not count.
inline std::optional<std::int64_t> core_wait_ns() {
    std::ifstream file("/proc/thread-self/schedstat");
    std::int64_t ran = 0;
    std::int64_t waited = 0;
    std::int64_t times = 0;
    if (!(file >> ran >> waited >> times) || times == 0) return std::nullopt;
    return waited;
}

}  // namespace idlewave::probe
