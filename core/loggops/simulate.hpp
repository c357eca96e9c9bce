#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/model.hpp"
#include "loggops/record.hpp"
#include "machine/machine.hpp"
#include "pdes/run.hpp"

namespace idlewave {

/// How to run a simulation.
struct SimulationOptions {
    std::uint64_t seed = 0;          ///< of the noise phases
    bool record = false;             ///< keep every op's times
    std::uint32_t threads = 1;       ///< the answer is the same on any number
    std::function<void(Time)> poll;  ///< called now and then with the simulated time; may throw to end the run
};

/// What a simulation found.
struct SimulationResult {
    std::vector<Time> finish;       ///< one a rank, ps
    std::uint64_t messages = 0;     ///< transmissions, rendezvous control messages included
    std::vector<OpRecord> records;  ///< if asked for, in the order (rank, place)
};

template <Source S, class Log>
SimulationResult simulate_with(const S& source, const Machine& machine, const SimulationOptions& options, Log& log) {
    using Model = LogGops<S, Log>;
    Model model(source, machine, options.seed, log);
    pdes::Lps<typename Model::State> ranks(source.ranks());
    std::vector<Waiting> waiting;
    SimulationResult result;
    pdes::run(model, ranks, options.threads, options.poll, [&](auto& scheduler) {
        scheduler.each_worker([&](auto& worker) {
            result.messages += worker.messages();
            worker.unfinished_sends(waiting);
        });
        for (std::uint32_t r = 0; r < ranks.size(); ++r) {
            scheduler.worker_of(r).unfinished(r, ranks[r].state, waiting);
        }
    });
    if (!waiting.empty()) {
        std::stable_sort(waiting.begin(), waiting.end(),
                         [](const Waiting& a, const Waiting& b) { return a.rank < b.rank; });
        throw deadlock(std::move(waiting));
    }
    result.finish.resize(ranks.size());
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
        result.finish[r] = model.finish(r, ranks[r].state);
    }
    return result;
}

/// Simulates the schedule of `source` on `machine`. Throws Deadlock, TimeOverflow, or what `options.poll` throws.
template <Source S>
SimulationResult simulate(const S& source, const Machine& machine, const SimulationOptions& options) {
    if (!options.record) {
        NoLog log;
        return simulate_with(source, machine, options, log);
    }
    OpLog log(source.ranks());
    SimulationResult result = simulate_with(source, machine, options, log);
    result.records = log.take();
    return result;
}

}  // namespace idlewave
