#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/observer.hpp"
#include "machine/machine.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/run_statistics.hpp"

namespace idlewave::loggops {

/// Options of a simulation.
struct SimulationOptions {
    std::uint64_t seed = 0;          ///< of the noise phases
    std::uint32_t threads = 1;       ///< the result is the same on any number
    std::function<void(Time)> poll;  ///< called now and then with the simulated time; an exception ends the run
};

/// The result of a simulation.
template <class Moment>
struct SimulationResult {
    std::vector<Moment> finish;      ///< one a rank
    std::uint64_t messages = 0;      ///< transmissions, rendezvous control messages included
    double share_by_one_thread = 0;  ///< of the events, those that one thread executed for all (pdes::ThreadChoice)
};

/// The result of a simulation in partitions. Only the first process has `found`.
template <class Moment>
struct PartitionedSimulation {
    SimulationResult<Moment> found;
    pdes::RunStatistics statistics;  ///< sums over all processes; its events are messages
    std::uint64_t digest = 0;        ///< of all finish times
};

/// Simulates the schedule of `source` on `machine`; `observer` attaches its data to the simulated times. Throws
/// Standstill, TimeOverflow, and any exception of `options.poll`. Its definition is in simulate.hpp: a file that
/// includes this header alone calls what another file instantiates, and does not compile the parts of a rank again.
template <goal::Source S, class Observer>
SimulationResult<typename Observer::Moment> simulate(const S& source, const machine::Machine& machine,
                                                     const SimulationOptions& options, Observer& observer);

/// The same without an observer.
template <goal::Source S>
SimulationResult<Time> simulate(const S& source, const machine::Machine& machine, const SimulationOptions& options) {
    NoObserver observer;
    return simulate(source, machine, options, observer);
}

/// Simulates the schedule of `source` on `machine` in partitions, on threads and in processes as `configuration` says,
/// with the same result as `simulate`; what the observer records is in the first process then. `seed` is that of the
/// noise phases. Throws Standstill in the first process, TimeOverflow, InputError if the machine has no lookahead, and
/// any exception of the poll. Its definition is in simulate_partitioned.hpp.
template <goal::Source S, class Observer>
PartitionedSimulation<typename Observer::Moment> simulate_partitioned(const S& source, const machine::Machine& machine,
                                                                      std::uint64_t seed,
                                                                      const pdes::RunConfiguration& configuration,
                                                                      Observer& observer);

/// The same without an observer.
template <goal::Source S>
PartitionedSimulation<Time> simulate_partitioned(const S& source, const machine::Machine& machine, std::uint64_t seed,
                                                 const pdes::RunConfiguration& configuration) {
    NoObserver observer;
    return simulate_partitioned(source, machine, seed, configuration, observer);
}

}  // namespace idlewave::loggops
