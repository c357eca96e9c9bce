#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "loggops/simulate.hpp"
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

}  // namespace idlewave
