#pragma once

namespace idlewave::machine {

/// The kinds of CPU work that a detour delays. Other work takes as long as on a machine without noise.
struct NoiseReach {
    bool o_s = true;
    bool o_r = true;
    bool O = true;          ///< the CPU's time per further byte, at both ends
    bool calc = true;       ///< the application's computation
    bool reduction = true;  ///< computation that belongs to a reduction
};

}  // namespace idlewave::machine
