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
    Time over_s = 0;      ///< kO_s: CPU time at the sender in addition to o_s
    Time over_r = 0;      ///< kO_r: CPU time at the receiver in addition to o_r
    Time bytes = 0;       ///< kG: time between the arrivals of the first and the last byte
    Time gap = 0;         ///< g + kG: time until the sending or receiving side of the NIC is free again
    Time completion = 0;  ///< c
    Time posting = 0;     ///< o_p
};

[[gnu::always_inline]] inline Costs costs(const Level& level, std::uint64_t size) {
    const Parameters& p = level.of(size);
    const Time bytes = per_byte(p.G, size);
    return {p.o_s, p.o_r, p.L, per_byte(p.O_s, size), per_byte(p.O_r, size), bytes, later(p.g, bytes), p.c, p.o_p};
}

/// These costs with another G, which a variation gives.
inline Costs with_bytes(Costs costs, double G, std::uint64_t size) {
    const Time g = costs.gap - costs.bytes;
    costs.bytes = per_byte(G, size);
    costs.gap = later(g, costs.bytes);
    return costs;
}

}  // namespace idlewave::machine
