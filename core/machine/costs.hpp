#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "machine/machine.hpp"

namespace idlewave {

/// What a message of one size costs on one level of the network, in ps: the parameters with their sizes multiplied.
struct Costs {
    Time o_s = 0;
    Time o_r = 0;
    Time L = 0;
    Time over = 0;   ///< kO: CPU time at both ends beside o_s and o_r
    Time bytes = 0;  ///< kG: the wire's time for what follows the first byte
    Time gap = 0;    ///< g + kG: until the NIC's side is free again
};

inline Costs costs(const Level& level, std::uint64_t size) {
    const Parameters& p = level.of(size);
    const Time bytes = per_byte(p.G, size);
    return {p.o_s, p.o_r, p.L, per_byte(p.O, size), bytes, later(p.g, bytes)};
}

}  // namespace idlewave
