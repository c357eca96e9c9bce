#pragma once

namespace idlewave {

/// Which of a CPU's work a detour lengthens. What noise does not reach takes its time as on a quiet machine.
struct NoiseReach {
    bool o_s = true;
    bool o_r = true;
    bool O = true;          ///< the CPU's time per further byte, at both ends
    bool calc = true;       ///< the application's computation
    bool reduction = true;  ///< computation that belongs to a reduction
};

}  // namespace idlewave
