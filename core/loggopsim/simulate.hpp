#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "goal/graph.hpp"
#include "machine/machine.hpp"

namespace idlewave::loggopsim {

/// LogGOPSim's results.
struct Result {
    std::vector<Time> finish;    ///< by rank: the time from which its last CPU is free
    std::uint64_t messages = 0;  ///< one for each send
};

/// Simulates `schedule` on `machine` by LogGOPSim's rules (docs/loggopsim.md). `poll` may be empty; it is called now
/// and then with the simulated time. Throws InputError if LogGOPSim cannot express the machine or if a free time would
/// be negative, Standstill if ops, receives or messages are left, TimeOverflow, and any exception of `poll`.
Result simulate(const goal::Graph& schedule, const machine::Machine& machine, const std::function<void(Time)>& poll);

}  // namespace idlewave::loggopsim
