// A computation of fixed length, whose time shows whether something else uses the core at this moment. With
// simultaneous multithreading (SMT) the threads of a core share its arithmetic units, even those of different virtual
// machines, and a ping-pong hardly shows that, as it mostly waits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/ticks.hpp"

namespace idlewave::probe {

// The time of 6,000 additions; six at a time do not depend on each other. ns.
inline std::int64_t timed_additions() {
    constexpr int rounds = 1000;
    std::uint64_t a = 1;
    std::uint64_t b = 2;
    std::uint64_t c = 3;
    std::uint64_t d = 4;
    std::uint64_t e = 5;
    std::uint64_t f = 6;
    const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    for (int i = 0; i < rounds; ++i) {
        a += 3, b += 3, c += 3, d += 3, e += 3, f += 3;
        asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));  // each is made, in a register
    }
    return nanoseconds(CLOCK_MONOTONIC) - begin;
}

// The shortest of some: for microseconds after a system call they take longer.
inline std::int64_t reference_ns() {
    constexpr int times = 6;
    std::int64_t least = timed_additions();
    for (int i = 1; i < times; ++i) least = std::min(least, timed_additions());
    return least;
}

// The time of the reference computation on the slowest rank, just before and just after a sample; ns.
struct ReferenceTimes {
    std::int64_t before_ns = 0;
    std::int64_t after_ns = 0;
};

}  // namespace idlewave::probe
