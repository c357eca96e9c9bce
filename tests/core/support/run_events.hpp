#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "event_runs.hpp"
#include "pdes/conservative.hpp"
#include "pdes/handler_model.hpp"
#include "pdes/lps.hpp"
#include "pdes/optimistic.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/run.hpp"
#include "pdes/sequential.hpp"

/// The definitions of event_runs.hpp.
namespace idlewave::testing {

template <class Model, class M>
States<M> states_of(const pdes::Lps<typename Model::State>& lps) {
    States<M> states;
    for (std::uint32_t i = 0; i < lps.size(); ++i) {
        states.push_back(lps[i].state.model);
    }
    return states;
}

/// Runs a model by the event list and then calls `use` with the scheduler; returns the LPs.
template <class Model, class Use>
auto run_event_list(Model& model, Use use) {
    pdes::TransportOf<Model> transport(1);
    const auto placement = pdes::Placement::block(model.lps(), 1);
    pdes::SequentialScheduler<Model> scheduler(model, placement, transport, {});
    scheduler.begin();
    scheduler.run(no_poll);
    use(scheduler);
    return scheduler.take_lps();
}

template <bool deep, class M>
States<M> one_by_one(const M& written) {
    using Model = pdes::HandlerModel<M, deep>;
    Model model(written);
    return states_of<Model, M>(*run_event_list(model, [](auto& /*scheduler*/) {}));
}

template <class M>
States<M> windowed(const M& written, std::uint32_t threads) {
    using Model = pdes::HandlerModel<M, false>;
    Model model(written);
    return states_of<Model, M>(*pdes::run(model, threads, no_poll, [](auto& /*scheduler*/) {}));
}

template <class Scheduler>
Partitions partitions_of(Scheduler& scheduler) {
    Partitions partitions{.run = [&](const std::function<void(Time)>& poll) { scheduler.run(poll); },
                          .run_interleaved = {}};
    if constexpr (requires(std::size_t (*choose)()) { scheduler.run_interleaved(choose); }) {
        partitions.run_interleaved = [&](const std::function<std::size_t()>& choose) {
            scheduler.run_interleaved(choose);
        };
    }
    return partitions;
}

template <class M, class Model, template <class> class Scheduler>
Partitioned<M> run_partitions(Model model, const pdes::Placement& placement, const pdes::PartitionOptions& options,
                              const RunAll& run_all) {
    pdes::TransportOf<Model> transport(placement.partitions());
    Scheduler<Model> scheduler(model, placement, transport, options);
    scheduler.begin();
    Partitions partitions = partitions_of(scheduler);
    run_all(partitions);
    Partitioned<M> found{.states = States<M>(model.lps()), .statistics = scheduler.statistics(), .emitted = {}};
    scheduler.each_lp([&](std::uint32_t lp, const auto& state) { found.states[lp] = state.model; });
    scheduler.each_emitted([&](const auto& emitted) { found.emitted.push_back(emitted); });
    return found;
}

template <class M>
Partitioned<M> conservative(const M& written, const pdes::Placement& placement, const pdes::PartitionOptions& options,
                            const RunAll& run_all) {
    using Model = pdes::HandlerModel<M, false>;
    return run_partitions<M, Model, pdes::ConservativeScheduler>(Model(written), placement, options, run_all);
}

template <bool deep, class M>
Partitioned<M> partitioned(const M& written, const pdes::Placement& placement, const pdes::PartitionOptions& options,
                           const RunAll& run_all) {
    using Model = pdes::HandlerModel<M, deep>;
    pdes::PartitionOptions given = options;
    given.speculation = options.speculation.value_or(pdes::Speculation::ahead);
    return run_partitions<M, Model, pdes::OptimisticScheduler>(Model(written), placement, given, run_all);
}

}  // namespace idlewave::testing
