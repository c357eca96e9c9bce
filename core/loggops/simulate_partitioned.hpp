#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/model.hpp"
#include "loggops/rank_results.hpp"
#include "loggops/simulation.hpp"
#include "machine/machine.hpp"
#include "pdes/exchange.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/placement.hpp"
#include "pdes/segmented_run.hpp"
#include "standstill/standstill.hpp"

namespace idlewave::loggops {

template <goal::Source S, class Observer>
PartitionedSimulation<typename Observer::Moment> simulate_partitioned(const S& source, const machine::Machine& machine,
                                                                      std::uint64_t seed,
                                                                      const pdes::RunConfiguration& configuration,
                                                                      Observer& observer) {
    using Model = LogGops<S, Observer>;
    using Moment = typename Observer::Moment;
    Model model(source, machine, seed, observer);
    if (model.lookahead() <= 0) {
        const std::string way = has_one_sided(source) ? "L of one-sided operations" : "o_s + L";
        throw InputError("only a machine with " + way +
                         " above 0 has a lookahead, without which messages are simulated one by one: by the "
                         "sequential scheduler");
    }
    if constexpr (Observer::records) {
        if (!configuration.checkpoint.directory.empty() || configuration.transport != nullptr) {
            observer.let_rows_move();
        }
    }
    const std::uint32_t partitions = configuration.partitions();
    pdes::PartitionOptions options = pdes::partition_options_of(configuration);
    options.cell = model.lookahead();
    const bool cyclic = configuration.placement_kind == pdes::PlacementKind::cyclic;
    pdes::SegmentedRun<Model> run(
        model,
        cyclic ? pdes::Placement::cyclic(model.lps(), partitions) : pdes::Placement::block(model.lps(), partitions),
        options, configuration);
    RankResults<Observer> results(configuration, observer);
    PartitionedSimulation<Moment> result;
    result.statistics = run.run([&](auto& all) {
        results.check_memory();
        standstill::Unfinished unfinished;
        all.each_worker([&](auto& worker) { worker.collect_unfinished_sends(unfinished); });
        all.each_lp_of_worker([&](auto& worker, std::uint32_t r, const typename Model::State& rank) {
            worker.collect_unfinished(r, rank, unfinished);
            const Moment finish = model.finish(r, rank);
            results.add(r, finish);
            result.digest += philox({r, static_cast<std::uint64_t>(time_of(finish)), 0, 0}, {0, 0})[0];
        });
        results.add(unfinished);
    });
    pdes::sum_over_processes(result.statistics, configuration.transport);
    pdes::sum_over_processes(std::span(&result.digest, 1), configuration.transport);
    result.found.messages = result.statistics.counts.committed;
    standstill::Unfinished unfinished = results.gather(source.ranks(), result.found.finish);
    if (!unfinished.empty()) {
        throw standstill::standstill(std::move(unfinished), source);
    }
    return result;
}

}  // namespace idlewave::loggops
