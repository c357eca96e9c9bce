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
    std::vector<Moment> finish;  ///< one a rank
    std::uint64_t messages = 0;  ///< transmissions, rendezvous control messages included
};

/// Simulates the schedule of `source` on `machine`; `observer` attaches its data to the simulated times. Throws
/// Standstill, TimeOverflow, and any exception of `options.poll`.
template <goal::Source S, class Observer>
SimulationResult<typename Observer::Moment> simulate(const S& source, const machine::Machine& machine,
                                                     const SimulationOptions& options, Observer& observer) {
    using Model = LogGops<S, Observer>;
    Model model(source, machine, options.seed, observer);
    standstill::Unfinished unfinished;
    SimulationResult<typename Observer::Moment> result;
    const auto ranks = pdes::run(model, options.threads, options.poll, [&](auto& scheduler) {
        scheduler.each_worker([&](auto& worker) {
            result.messages += worker.messages();
            worker.collect_unfinished_sends(unfinished);
        });
        scheduler.each_lp_of_worker([&](auto& worker, std::uint32_t r, const typename Model::State& rank) {
            worker.collect_unfinished(r, rank, unfinished);
        });
    });
    if (!unfinished.empty()) {
        throw standstill::standstill(std::move(unfinished), source);
    }
    // The finish times are allocated only now, after the scheduler has released its memory.
    result.finish.resize(ranks->size());
    for (std::uint32_t r = 0; r < ranks->size(); ++r) {
        result.finish[r] = model.finish(r, (*ranks)[r].state);
    }
    return result;
}

/// The same without an observer.
template <goal::Source S>
SimulationResult<Time> simulate(const S& source, const machine::Machine& machine, const SimulationOptions& options) {
    NoObserver observer;
    return simulate(source, machine, options, observer);
}

}  // namespace idlewave::loggops
