#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/model.hpp"
#include "loggops/record.hpp"
#include "machine/machine.hpp"
#include "pdes/sequential.hpp"

namespace idlewave {

/// How to run a simulation.
struct SimulationOptions {
    std::uint64_t seed = 0;          ///< of the noise phases
    bool record = false;             ///< keep every op's times
    std::function<void(Time)> poll;  ///< called now and then with the simulated time; may throw to end the run
};

/// What a simulation found.
struct SimulationResult {
    std::vector<Time> finish;       ///< one a rank, ps
    std::uint64_t messages = 0;     ///< transmissions, rendezvous control messages included
    std::vector<OpRecord> records;  ///< if asked for, in the order (rank, place)
};

/// Sorts records by (rank, place).
void sort_records(std::vector<OpRecord>& records);

template <Source S, class Log>
SimulationResult simulate_with(const S& source, const Machine& machine, const SimulationOptions& options, Log& log) {
    using Model = LogGops<S, Log>;
    static_assert(pdes::Model<Model>);
    Model model(source, machine, options.seed, log);
    std::vector<typename Model::State> ranks(source.ranks());
    pdes::run_sequential(model, ranks, options.poll);

    std::vector<Waiting> waiting;
    SimulationResult result{.finish = {}, .messages = model.messages(), .records = {}};
    result.finish.reserve(ranks.size());
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
        model.unfinished(r, ranks[r], waiting);
        result.finish.push_back(ranks[r].finish);
    }
    if (!waiting.empty()) {
        throw deadlock(std::move(waiting));
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
    OpLog log;
    SimulationResult result = simulate_with(source, machine, options, log);
    result.records = std::move(log.records());
    sort_records(result.records);
    return result;
}

}  // namespace idlewave
