#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "goal/graph.hpp"
#include "machine/machine.hpp"

namespace idlewave::loggopsim {

/// What LogGOPSim would print.
struct Result {
    std::vector<Time> finish;    ///< one a rank, ps: when the last of its CPUs is free
    std::uint64_t messages = 0;  ///< one a send
};

/// Simulates `schedule` on `machine` by LogGOPSim's rules (docs/loggopsim.md). `poll`, which may be empty, is called
/// now and then with the simulated time. Throws InputError if the machine has what LogGOPSim cannot express, or if a
/// clock would go below 0; Standstill if ops, receives or messages are left; TimeOverflow; and what `poll` throws.
Result simulate(const Graph& schedule, const Machine& machine, const std::function<void(Time)>& poll);

}  // namespace idlewave::loggopsim
