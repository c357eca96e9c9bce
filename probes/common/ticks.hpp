// The processor's time counter: read it cheaply, and convert its ticks to nanoseconds.
#pragma once

#include <time.h>

#include <cmath>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace idlewave::probe {

using Ticks = std::uint64_t;

inline std::int64_t nanoseconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The shortest read. On x86-64 it is plain `rdtsc`, neither `rdtscp` nor fenced: a loop that only reads the counter
// needs no ordering, and an interruption discards every read that the processor made ahead.
inline Ticks read_ticks() {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    Ticks value = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return static_cast<Ticks>(nanoseconds(CLOCK_MONOTONIC));
#endif
}

// A read around code to be timed: the code before it has ended, the code after it has not begun.
inline Ticks read_ticks_ordered() {
#if defined(__x86_64__)
    unsigned int processor = 0;
    const Ticks value = __rdtscp(&processor);
    _mm_lfence();
    return value;
#elif defined(__aarch64__)
    Ticks value = 0;
    asm volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(value)::"memory");
    return value;
#else
    return read_ticks();
#endif
}

inline const char* ticks_source() {
#if defined(__x86_64__)
    return "rdtsc";
#elif defined(__aarch64__)
    return "cntvct_el0";
#else
    return "clock_gettime(CLOCK_MONOTONIC)";
#endif
}

// One instant on both the counter and a clock. It is the one with the narrowest bracket of many tries, so that an
// interruption between the two reads does no harm.
struct Instant {
    Ticks ticks = 0;
    std::int64_t ns = 0;
};

inline Instant instant(clockid_t clock = CLOCK_MONOTONIC_RAW) {
    constexpr int tries = 100;
    Instant best;
    Ticks narrowest = ~Ticks{0};
    for (int i = 0; i < tries; ++i) {
        const Ticks before = read_ticks_ordered();
        const std::int64_t ns = nanoseconds(clock);
        const Ticks after = read_ticks_ordered();
        if (after - before < narrowest) {
            narrowest = after - before;
            best = {before + (after - before) / 2, ns};
        }
    }
    return best;
}

// Nanoseconds in one tick between two instants, by CLOCK_MONOTONIC_RAW, which is never adjusted.
inline double tick_length(const Instant& first, const Instant& last) {
    return static_cast<double>(last.ns - first.ns) / static_cast<double>(last.ticks - first.ticks);
}

// The same over the next `over_ns` nanoseconds, with busy waiting.
inline double measure_tick_length(std::int64_t over_ns) {
    const Instant first = instant();
    Instant last = first;
    while (last.ns - first.ns < over_ns) last = instant();
    return tick_length(first, last);
}

inline std::int64_t picoseconds(Ticks ticks, double tick_ns) {
    return std::llround(static_cast<double>(ticks) * tick_ns * 1000);
}

}  // namespace idlewave::probe
