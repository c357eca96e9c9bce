#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/gathered.hpp"
#include "loggops/model.hpp"
#include "loggops/observer.hpp"
#include "loggops/simulate.hpp"
#include "machine/machine.hpp"
#include "pdes/exchange.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/placement.hpp"
#include "pdes/segmented_run.hpp"
#include "standstill/standstill.hpp"

namespace idlewave {

/// What a simulation in partitions found: in the first process; elsewhere `found` is empty.
struct PartitionedSimulation {
    Simulated<Time> found;
    pdes::RunStatistics statistics;  ///< of all processes; its events are messages
    std::uint64_t digest = 0;        ///< of all finish times
};

/// Simulates the schedule of `source` on `machine` in partitions, on threads and in processes as `configuration` says,
/// with the same results as `simulate`. `seed`: of the noise phases. Throws Standstill in the first process,
/// TimeOverflow, InputError if the machine has no lookahead, or what a poll throws.
template <Source S>
PartitionedSimulation simulate_partitioned(const S& source, const Machine& machine, std::uint64_t seed,
                                           const pdes::RunConfiguration& configuration) {
    using Model = LogGops<S, Unobserved>;
    Unobserved observer;
    Model model(source, machine, seed, observer);
    if (model.lookahead() <= 0) {
        throw InputError(
            "only a machine with o_s + L above 0 has a lookahead, without which messages are simulated one "
            "by one: by the sequential scheduler");
    }
    const std::uint32_t partitions = configuration.partitions();
    pdes::PartitionOptions options = pdes::partition_options_of(configuration);
    options.cell = model.lookahead();
    const bool cyclic = configuration.placement_kind == pdes::PlacementKind::cyclic;
    pdes::SegmentedRun<Model> run(
        model,
        cyclic ? pdes::Placement::cyclic(model.lps(), partitions) : pdes::Placement::block(model.lps(), partitions),
        options, configuration);
    Gathered gathered(partitions);
    PartitionedSimulation result;
    result.statistics = run.run([&](auto& all) {
        Left left;
        all.each_partition([&](auto& partition) {
            partition.worker().unfinished_sends(left);
            partition.each_lp([&](std::uint32_t r, const auto& rank) {
                partition.worker().unfinished(r, rank, left);
                const Time finish = model.finish(r, rank);
                gathered.add(r, finish);
                result.digest += philox({r, static_cast<std::uint64_t>(finish), 0, 0}, {0, 0})[0];
            });
        });
        gathered.add(left);
    });
    pdes::sum_over_processes(result.statistics, configuration.transport);
    pdes::sum_over_processes(std::span(&result.digest, 1), configuration.transport);
    result.found.messages = result.statistics.counts.committed;
    Left left = gathered.gather(configuration, source.ranks(), result.found.finish);
    if (!left.empty()) {
        throw standstill(std::move(left), source);
    }
    return result;
}

}  // namespace idlewave
