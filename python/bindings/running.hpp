#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "loggops/simulate.hpp"
#include "poll.hpp"

namespace idlewave {

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What a simulation found, and how long it took with the generation of its schedule.
template <class Moment>
struct Timed {
    Simulated<Moment> found;
    double seconds = 0;
};

/// Simulates without the interpreter's lock.
template <class S, class Observer>
Timed<typename Observer::Moment> run_timed(const S& source, const Machine& machine, std::uint64_t seed,
                                           std::uint32_t threads, const nanobind::object& progress,
                                           Observer& observer) {
    const SimulationOptions options{.seed = seed, .threads = threads, .poll = Poll(progress)};
    const nanobind::gil_scoped_release released;
    const auto begin = std::chrono::steady_clock::now();
    Timed<typename Observer::Moment> result;
    result.found = simulate(source, machine, options, observer);
    result.seconds = seconds_since(begin);
    return result;
}

}  // namespace idlewave
