// The context switches of a thread.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace idlewave::probe {

// How often something else took this thread's core away.
inline std::int64_t involuntary_switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

}  // namespace idlewave::probe
