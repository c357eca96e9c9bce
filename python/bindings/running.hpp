#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "kernel_run.hpp"
#include "loggops/simulate.hpp"
#include "loggops/simulate_partitioned.hpp"
#include "poll.hpp"

namespace idlewave {

using Clock = std::chrono::steady_clock;

/// What a simulation found, and how long it took with the generation of its schedule.
template <class Moment>
struct Timed {
    loggops::SimulationResult<Moment> found;
    double seconds = 0;
};

/// Simulates without the interpreter's lock. The time is that since `begin`.
template <class S, class Observer>
Timed<typename Observer::Moment> run_timed(const S& source, const machine::Machine& machine, std::uint64_t seed,
                                           std::uint32_t threads, const nanobind::object& progress, Observer& observer,
                                           Clock::time_point begin = Clock::now()) {
    const loggops::SimulationOptions options{.seed = seed, .threads = threads, .poll = Poll(progress)};
    const nanobind::gil_scoped_release released;
    Timed<typename Observer::Moment> result;
    result.found = loggops::simulate(source, machine, options, observer);
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return result;
}

/// Simulates in partitions without the interpreter's lock.
template <class S, class Observer>
loggops::PartitionedSimulation<typename Observer::Moment> run_partitioned(const S& source,
                                                                          const machine::Machine& machine,
                                                                          std::uint64_t seed,
                                                                          const pdes::RunConfiguration& configuration,
                                                                          Observer& observer) {
    const nanobind::gil_scoped_release released;
    return loggops::simulate_partitioned(source, machine, seed, configuration, observer);
}

/// Adds what every simulation answers, whatever its observer.
template <class Moment>
void put_run(nanobind::dict& answer, const Timed<Moment>& result) {
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.seconds;
}

/// The same of a simulation in partitions. All processes of the run call this together. Throws TransportError.
template <class Moment>
void put_run(nanobind::dict& answer, loggops::PartitionedSimulation<Moment> result,
             const idlewave_transport* transport) {
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.statistics.init_seconds + result.statistics.seconds;
    answer["run"] = report_of(std::move(result.statistics), result.digest, transport);
}

}  // namespace idlewave
