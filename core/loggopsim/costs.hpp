#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "machine/machine.hpp"

namespace idlewave::loggopsim {

/// The one set of parameters that LogGOPSim knows. Times in ps, costs in whole ps per byte.
struct Costs {
    Time L = 0;
    Time o = 0;  ///< to send and to receive
    Time g = 0;
    Time G = 0;
    Time O = 0;
    std::uint64_t S = 0;  ///< largest message in bytes whose send does not wait for the receive
};

/// LogGOPSim's parameters for `machine`. Throws an InputError that names a parameter which LogGOPSim cannot express.
Costs costs_of(const machine::Machine& machine);

/// `cost` for each byte after the first. LogGOPSim computes size - 1 without a sign, and its sums wrap back: so a
/// message of 0 bytes costs minus the cost of one byte. Throws TimeOverflow.
inline Time further_bytes(Time cost, std::uint64_t size) {
    if (size == 0) {
        return -cost;
    }
    Time product = 0;
    if (__builtin_mul_overflow(cost, size - 1, &product)) {
        throw TimeOverflow();
    }
    return product;
}

/// The CPU time of a reception beyond o. LogGOPSim compares without a sign, so a negative cost is the larger one.
inline Time reception(const Costs& costs, std::uint64_t size) {
    const auto over = static_cast<std::uint64_t>(further_bytes(costs.O, size));
    const auto gap = static_cast<std::uint64_t>(further_bytes(costs.G, size));
    return static_cast<Time>(std::max(over, gap));
}

/// Whether a message of 0 bytes can make the free time of a CPU or a NIC smaller.
inline bool zero_bytes_reduce_free_times(const Costs& costs) {
    return costs.O > costs.o || costs.G > costs.o || costs.G > costs.g;
}

}  // namespace idlewave::loggopsim
