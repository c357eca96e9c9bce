#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "pdes/exchange.hpp"
#include "pdes/handler_model.hpp"
#include "pdes/lps.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/placement.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/run_statistics.hpp"
#include "pdes/segmented_run.hpp"
#include "pdes/sequential.hpp"

namespace idlewave::pdes {

/// What a run of a model led to, summed over all processes.
struct RunResult {
    RunStatistics statistics;
    std::uint64_t digest = 0;  ///< sum of a hash of each LP's number and state
};

namespace run_model_detail {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What an LP adds to the digest of a run: its state has the number of events it handled and a digest of them.
template <class State>
std::uint64_t digest_of(std::uint32_t lp, const State& state) {
    return philox({lp, state.digest, state.handled, 0}, {0, 0})[0];
}

/// The length of a cell for a model without a lookahead: in so short a span an LP mostly receives one event.
template <Model M>
Time cell_without_lookahead(const M& model) {
    if constexpr (requires { model.typical_delay(); }) {
        return std::max<Time>(1, model.typical_delay() / 16);
    } else {
        return 1;
    }
}

/// The partition of each LP. Throws InputError if the configuration's table does not have one partition for each LP.
inline Placement placement_of(std::uint32_t lps, const RunConfiguration& configuration) {
    const std::uint32_t partitions = configuration.partitions();
    if (configuration.placement.empty()) {
        return configuration.placement_kind == PlacementKind::block ? Placement::block(lps, partitions)
                                                                    : Placement::cyclic(lps, partitions);
    }
    if (configuration.placement.size() != lps) {
        throw InputError("the placement is of " + std::to_string(configuration.placement.size()) +
                         " LPs, and there are " + std::to_string(lps));
    }
    return Placement::table(configuration.placement, partitions);
}

template <class Runnable, class Use>
RunStatistics run_partitioned(Runnable& model, const RunConfiguration& configuration, const PartitionOptions& options,
                              Use use) {
    SegmentedRun<Runnable> run(model, placement_of(model.lps(), configuration), options, configuration);
    return run.run([&](auto& partitions) { partitions.each_lp(use); });
}

template <class Runnable, class Use>
RunStatistics run_sequential(Runnable& model, const RunConfiguration& configuration, Use use) {
    RunStatistics run;
    const auto begin = Clock::now();
    Lps<typename Runnable::State> lps(model.lps());
    SequentialScheduler<Runnable> scheduler(model, lps, configuration.poll);
    run.init_seconds = seconds_since(begin);
    const auto ready = Clock::now();
    scheduler.run();
    run.seconds = seconds_since(ready);
    run.counts.committed = scheduler.worker_of(0).executed();
    for (std::uint32_t i = 0; i < lps.size(); ++i) {
        use(i, lps[i].state);
    }
    return run;
}

/// Throws InputError if the model cannot be run with the configuration.
template <Model M>
void check(const M& model, const RunConfiguration& configuration) {
    if (model.lookahead() > 0) {
        return;
    }
    if (configuration.scheduler == Scheduler::yawns) {
        throw InputError("yawns needs a lookahead, and the model has none: sequential and timewarp do without");
    }
    if (has_conservative<M> && configuration.scheduler == Scheduler::timewarp) {
        throw InputError("conservative LPs need a lookahead, and the model has none");
    }
    if (configuration.scheduler == Scheduler::sequential && !configuration.checkpoint.directory.empty()) {
        throw InputError("without a lookahead the sequential scheduler writes no checkpoints: timewarp does");
    }
}

}  // namespace run_model_detail

/// Runs `model` to its end as `configuration` says, and then calls `use` with the number and the state of each LP of
/// this process. Throws InputError if the model cannot be run with this configuration, and what the model or the poll
/// throws.
template <Model M, class Use>
RunResult run_model(const M& model, const RunConfiguration& configuration, Use use) {
    run_model_detail::check(model, configuration);
    std::uint64_t digest = 0;
    const auto show = [&](std::uint32_t lp, const auto& state) {
        digest += run_model_detail::digest_of(lp, state.model);
        use(lp, state.model);
    };
    RunResult run;
    PartitionOptions options = partition_options_of(configuration);
    if (model.lookahead() > 0) {
        HandlerModel<M, false> runnable(model);
        options.cell = configuration.cell > 0 ? std::min(configuration.cell, model.lookahead()) : model.lookahead();
        run.statistics = run_model_detail::run_partitioned(runnable, configuration, options, show);
    } else {
        HandlerModel<M, true> runnable(model);
        options.cell = configuration.cell > 0 ? configuration.cell : run_model_detail::cell_without_lookahead(model);
        run.statistics = configuration.scheduler == Scheduler::sequential
                             ? run_model_detail::run_sequential(runnable, configuration, show)
                             : run_model_detail::run_partitioned(runnable, configuration, options, show);
    }
    run.digest = digest;
    sum_over_processes(run.statistics, configuration.transport);
    sum_over_processes(std::span(&run.digest, 1), configuration.transport);
    return run;
}

}  // namespace idlewave::pdes
