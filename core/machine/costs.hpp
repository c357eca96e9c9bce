#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "machine/machine.hpp"

namespace idlewave::machine {

/// The costs of a message of one size on one level of the network, in ps: the costs per byte are multiplied by the size
/// k = size − 1.
struct Costs {
    Time o_s = 0;
    Time o_r = 0;
    Time L = 0;
    Time over = 0;   ///< kO: CPU time at each end in addition to o_s or o_r
    Time bytes = 0;  ///< kG: time between the arrivals of the first and the last byte
    Time gap = 0;    ///< g + kG: time until the sending or receiving side of the NIC is free again
};

inline Costs costs(const Level& level, std::uint64_t size) {
    const Parameters& p = level.of(size);
    const Time bytes = per_byte(p.G, size);
    return {p.o_s, p.o_r, p.L, per_byte(p.O, size), bytes, later(p.g, bytes)};
}

}  // namespace idlewave::machine
