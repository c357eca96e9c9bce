#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "dice.hpp"
#include "pdes/conservative.hpp"
#include "pdes/handler_model.hpp"
#include "pdes/optimistic.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/run.hpp"
#include "pdes/sequential.hpp"

namespace idlewave::testing {

inline const std::function<void(Time)> no_poll;

/// The states of all LPs at the end of a run of a model that is written event by event, by each of the schedulers.
template <class M>
using States = std::vector<typename M::State>;

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

template <bool deep = false, class M>
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

/// What a run of partitions leads to, and counted.
template <class M>
struct Partitioned {
    States<M> states;
    pdes::Statistics statistics;
};

/// `run_all` is given the scheduler of the partitions, which have begun.
template <class M, class Model, template <class> class Scheduler, class Run>
Partitioned<M> run_partitions(Model model, const pdes::Placement& placement, const pdes::PartitionOptions& options,
                              Run run_all) {
    pdes::TransportOf<Model> transport(placement.partitions());
    Scheduler<Model> scheduler(model, placement, transport, options);
    scheduler.begin();
    run_all(scheduler);
    Partitioned<M> found{.states = States<M>(model.lps()), .statistics = scheduler.statistics()};
    scheduler.each_lp([&](std::uint32_t lp, const auto& state) { found.states[lp] = state.model; });
    return found;
}

/// By the conservative scheduler, on a thread for each partition.
template <class M, class Run>
Partitioned<M> conservative(const M& written, const pdes::Placement& placement, const pdes::PartitionOptions& options,
                            Run run_all) {
    using Model = pdes::HandlerModel<M, false>;
    return run_partitions<M, Model, pdes::ConservativeScheduler>(Model(written), placement, options, run_all);
}

/// By the optimistic scheduler.
template <bool deep = false, class M, class Run>
Partitioned<M> partitioned(const M& written, const pdes::Placement& placement, const pdes::PartitionOptions& options,
                           Run run_all) {
    using Model = pdes::HandlerModel<M, deep>;
    return run_partitions<M, Model, pdes::OptimisticScheduler>(Model(written), placement, options, run_all);
}

inline const auto on_threads = [](auto& scheduler) { scheduler.run(no_poll); };

/// Partitions take turns: `next` says whose step is next, by dice and whose `turn` it is, which it may change.
template <class Next>
auto interleaved_by(std::uint64_t seed, Next next) {
    return [=](auto& partitions) {
        Dice dice(seed);
        std::uint32_t turn = 0;
        partitions.run_interleaved([&] { return next(dice, turn); });
    };
}

/// As dice decide: some get far ahead, and others come late.
inline auto interleaved(std::uint64_t seed, std::uint32_t count) {
    return interleaved_by(seed, [=](Dice& dice, std::uint32_t& turn) {
        turn = dice.one_in(8) ? dice.small(count) : turn;
        return dice.one_in(40) ? (turn + 1) % count : turn;
    });
}

/// The turns are long: whoever has one goes as far as it may, and finds much that is certain.
inline auto in_long_turns(std::uint64_t seed, std::uint32_t count) {
    return interleaved_by(seed, [=](Dice& dice, std::uint32_t& turn) {
        turn = dice.one_in(1000) ? dice.small(count) : turn;
        return turn;
    });
}

}  // namespace idlewave::testing
