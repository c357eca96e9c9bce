#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/model.hpp"
#include "loggops/observer.hpp"
#include "loggops/recorder.hpp"
#include "machine/machine.hpp"
#include "pdes/run.hpp"
#include "standstill/standstill.hpp"

namespace idlewave {

/// How to run a simulation.
struct SimulationOptions {
    std::uint64_t seed = 0;          ///< of the noise phases
    std::uint32_t threads = 1;       ///< the answer is the same on any number
    std::function<void(Time)> poll;  ///< called now and then with the simulated time; may throw to end the run
};

/// What a simulation found.
template <class Moment>
struct Simulated {
    std::vector<Moment> finish;  ///< one a rank
    std::uint64_t messages = 0;  ///< transmissions, rendezvous control messages included
};

/// Simulates the schedule of `source` on `machine`, while `observer` looks on. Throws Standstill, TimeOverflow, or what
/// `options.poll` throws.
template <Source S, class Observer>
Simulated<typename Observer::Moment> simulate(const S& source, const Machine& machine, const SimulationOptions& options,
                                              Observer& observer) {
    using Model = LogGops<S, Observer>;
    Model model(source, machine, options.seed, observer);
    Left left;
    Simulated<typename Observer::Moment> result;
    const auto ranks = pdes::run(model, options.threads, options.poll, [&](auto& scheduler) {
        scheduler.each_worker([&](auto& worker) {
            result.messages += worker.messages();
            worker.unfinished_sends(left);
        });
        scheduler.each_lp_of_worker([&](auto& worker, std::uint32_t r, const typename Model::State& rank) {
            worker.unfinished(r, rank, left);
        });
    });
    if (!left.empty()) {
        throw standstill(std::move(left), source);
    }
    // Only now, when the scheduler's memory is free again.
    result.finish.resize(ranks->size());
    for (std::uint32_t r = 0; r < ranks->size(); ++r) {
        result.finish[r] = model.finish(r, (*ranks)[r].state);
    }
    return result;
}

/// The finish times alone.
template <Source S>
Simulated<Time> simulate(const S& source, const Machine& machine, const SimulationOptions& options) {
    Unobserved observer;
    return simulate(source, machine, options, observer);
}

}  // namespace idlewave
