#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/model.hpp"
#include "loggops/observer.hpp"
#include "loggops/rank_results.hpp"
#include "loggops/simulate.hpp"
#include "machine/machine.hpp"
#include "pdes/exchange.hpp"
#include "pdes/legs.hpp"
#include "pdes/manner.hpp"
#include "pdes/placement.hpp"
#include "standstill/standstill.hpp"

namespace idlewave {

/// Options of a simulation in partitions, on threads and in several processes.
struct PartitionedOptions {
    std::uint64_t seed = 0;  ///< of the noise phases
    pdes::Advance advance = pdes::Advance::conservative;
    bool check = false;   ///< execute each rank's events, roll back, compare, and execute again
    bool cyclic = false;  ///< cyclic placement of ranks instead of blocks
    bool lazy = false;    ///< optimistic: lazy cancellation
    pdes::Crew crew;
};

/// The result of a simulation in partitions. Only the first process has `found`.
struct PartitionedResult {
    SimulationResult<Time> found;
    pdes::Counted counted;     ///< sums over all processes; committed and rolled back events are messages
    std::uint64_t digest = 0;  ///< of all finish times
};

/// Simulates the schedule of `source` on `machine` in partitions, with the same result as `simulate`. Throws Standstill
/// in the first process, TimeOverflow, InputError if the machine has no lookahead, and any exception of the poll.
template <Source S>
PartitionedResult simulate_partitioned(const S& source, const Machine& machine, const PartitionedOptions& options) {
    using Model = LogGops<S, NoObserver>;
    NoObserver observer;
    Model model(source, machine, options.seed, observer);
    if (model.lookahead() <= 0) {
        throw InputError(
            "only a machine with o_s + L above 0 has a lookahead, without which messages are simulated one "
            "by one: by the sequential scheduler");
    }
    const std::uint32_t partitions = options.crew.partitions();
    const pdes::Manner manner{
        .advance = options.advance, .cell = model.lookahead(), .lazy = options.lazy, .check = options.check};
    pdes::Legs<Model> legs(model,
                           options.cyclic ? pdes::Placement::cyclic(model.lps(), partitions)
                                          : pdes::Placement::block(model.lps(), partitions),
                           manner, options.crew);
    RankResults results(partitions);
    PartitionedResult result;
    result.counted = legs.run([&](auto& all) {
        Unfinished unfinished;
        all.each_partition([&](auto& partition) {
            partition.worker().collect_unfinished_sends(unfinished);
            partition.each_lp([&](std::uint32_t r, const auto& rank) {
                partition.worker().collect_unfinished(r, rank, unfinished);
                const Time finish = model.finish(r, rank);
                results.add(r, finish);
                result.digest += philox({r, static_cast<std::uint64_t>(finish), 0, 0}, {0, 0})[0];
            });
        });
        results.add(unfinished);
    });
    pdes::add_up(result.counted, options.crew.wire);
    pdes::add_up(std::span(&result.digest, 1), options.crew.wire);
    result.found.messages = result.counted.statistics.committed;
    Unfinished unfinished = results.gather(options.crew, source.ranks(), result.found.finish);
    if (!unfinished.empty()) {
        throw standstill(std::move(unfinished), source);
    }
    return result;
}

}  // namespace idlewave
