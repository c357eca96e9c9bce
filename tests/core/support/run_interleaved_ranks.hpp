#pragma once

#include <cstdint>
#include <vector>

#include "event_runs.hpp"
#include "goal/graph_run.hpp"
#include "goal/source.hpp"
#include "interleaved_ranks.hpp"
#include "loggops/model.hpp"
#include "machine/machine.hpp"
#include "pdes/optimistic.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"

namespace idlewave::testing {

template <goal::Source S, class Observer>
InterleavedRanks<typename Observer::Moment> interleaved_ranks(const S& source, const machine::Machine& machine,
                                                              std::uint64_t seed, std::uint32_t count, bool lazy,
                                                              Observer& observer) {
    using Model = loggops::LogGops<S, Observer>;
    Model model(source, machine, seed, observer);
    const pdes::PartitionOptions options{
        .cell = model.lookahead(), .lazy = lazy, .speculation = pdes::Speculation::ahead};
    const auto placement = pdes::Placement::cyclic(source.ranks(), count);
    pdes::TransportOf<Model> transport(count);
    pdes::OptimisticScheduler<Model> partitions(model, placement, transport, options);
    partitions.begin();
    interleaved(seed, count)(partitions);
    InterleavedRanks<typename Observer::Moment> found{.finish = std::vector<typename Observer::Moment>(source.ranks()),
                                                      .statistics = partitions.statistics()};
    partitions.each_lp([&](std::uint32_t r, const auto& rank) { found.finish[r] = model.finish(r, rank); });
    return found;
}

}  // namespace idlewave::testing
