// The work of FTQ, which counts it per quantum of time, and of FWQ, which times it: a chain of dependent integer
// operations in registers. It touches no memory, so the use of caches by others does not change its time.
#pragma once

#include <cstdint>
#include <string>

namespace idlewave::probe {

using WorkState = std::uint64_t;

// One step of a linear congruential generator (D. Knuth's constants for 64 bits: a multiplication and an addition, some
// four cycles). The empty instruction prevents the compiler from merging two steps into one.
[[gnu::always_inline]] inline void work_step(WorkState& state) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    asm volatile("" : "+r"(state));  // NOLINT(hicpp-no-assembler)
}

constexpr int steps_in_unit = 8;

[[gnu::always_inline]] inline void work_unit(WorkState& state) {
#pragma GCC unroll 64
    for (int i = 0; i < steps_in_unit; ++i) work_step(state);
}

inline std::string describe_work_unit() {
    return std::to_string(steps_in_unit) + " steps of a linear congruential generator";
}

}  // namespace idlewave::probe
