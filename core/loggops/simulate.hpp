#pragma once

#include <cstdint>
#include <utility>

#include "goal/source.hpp"
#include "loggops/model.hpp"
#include "loggops/simulation.hpp"
#include "machine/machine.hpp"
#include "pdes/run.hpp"
#include "standstill/standstill.hpp"

namespace idlewave::loggops {

template <goal::Source S, class Observer>
SimulationResult<typename Observer::Moment> simulate(const S& source, const machine::Machine& machine,
                                                     const SimulationOptions& options, Observer& observer) {
    using Model = LogGops<S, Observer>;
    Model model(source, machine, options.seed, observer);
    standstill::Unfinished unfinished;
    SimulationResult<typename Observer::Moment> result;
    const auto ranks = pdes::run(model, options.threads, options.poll, [&](auto& scheduler) {
        if constexpr (requires { scheduler.share_by_one_thread(); }) {
            result.share_by_one_thread = scheduler.share_by_one_thread();
        }
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

}  // namespace idlewave::loggops
