#include "goal/graph_run.hpp"
#include "loggops/model.hpp"
#include "loggops/simulate.hpp"
#include "loggops/simulate_partitioned.hpp"
#include "outcome.hpp"
#include "run_events.hpp"
#include "run_interleaved_ranks.hpp"
#include "simulations.hpp"
#include "standstill/standstill.hpp"

namespace idlewave::loggops {

template SimulationResult<CausedTime> simulate(const goal::Graph&, const machine::Machine&, const SimulationOptions&,
                                               Recorder&);
template PartitionedSimulation<CausedTime> simulate_partitioned(const goal::Graph&, const machine::Machine&,
                                                                std::uint64_t, const pdes::RunConfiguration&,
                                                                Recorder&);

}  // namespace idlewave::loggops

namespace idlewave::testing {

template InterleavedRanks<loggops::CausedTime> interleaved_ranks(const goal::Graph&, const machine::Machine&,
                                                                 std::uint64_t, std::uint32_t, bool,
                                                                 loggops::Recorder&);

Outcome outcome_one_by_one(const goal::Graph& graph, const machine::Machine& machine, std::uint64_t seed) {
    using Model = loggops::LogGops<goal::Graph, loggops::Recorder>;
    loggops::Recorder recorder(graph.ranks());
    Model model(graph, machine, seed, recorder);
    Outcome outcome;
    standstill::Unfinished unfinished;
    run_event_list(model, [&](auto& scheduler) {
        scheduler.each_worker([&](auto& worker) {
            outcome.messages = worker.messages();
            worker.collect_unfinished_sends(unfinished);
        });
        scheduler.each_lp_of_worker([&](auto& worker, std::uint32_t r, const Model::State& rank) {
            outcome.finish.push_back(model.finish(r, rank).time);
            worker.collect_unfinished(r, rank, unfinished);
        });
    });
    if (!unfinished.empty()) {
        return outcome_of(standstill::standstill(std::move(unfinished), graph));
    }
    outcome.records = all_ops(recorder.take());
    return outcome;
}

}  // namespace idlewave::testing
