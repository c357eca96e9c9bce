// A fixed piece of computation, whose time shows how fast the cores are at this moment. A hardware thread has half the
// arithmetic units when the other thread of its core computes, too; a ping-pong hardly shows that, as it mostly waits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/ticks.hpp"

namespace idlewave::probe {

// The time of some thousand additions, six at a time, as many as the arithmetic units of a core make; ns.
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

// The shortest of some: for microseconds after a call of the kernel they take longer.
inline std::int64_t fixed_work_ns() {
    constexpr int times = 6;
    std::int64_t least = timed_additions();
    for (int i = 1; i < times; ++i) least = std::min(least, timed_additions());
    return least;
}

// The work of the slowest rank just before and just after a sample; ns.
struct WorkBeside {
    std::int64_t before_ns = 0;
    std::int64_t after_ns = 0;
};

}  // namespace idlewave::probe
