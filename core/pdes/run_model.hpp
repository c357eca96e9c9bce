#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/time.hpp"
#include "pdes/exchange.hpp"
#include "pdes/handler_model.hpp"
#include "pdes/model_errors.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/placement.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/run_statistics.hpp"
#include "pdes/segmented_run.hpp"
#include "pdes/state_digest.hpp"

namespace idlewave::pdes {

/// What a run of a model led to, summed over all processes.
struct RunResult {
    RunStatistics statistics;
    std::uint64_t digest = 0;  ///< sum of what each LP adds (state_digest.hpp)
};

namespace run_model_detail {

/// The length of a cell for a model without a lookahead: in so short a span an LP mostly receives one event.
template <Model M>
Time cell_without_lookahead(const M& model) {
    if constexpr (has_typical_delay<M>) {
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
RunStatistics run(Runnable& model, const RunConfiguration& configuration, Time longest_cell, Use use) {
    PartitionOptions options = partition_options_of(configuration);
    options.cell = longest_cell;
    SegmentedRun<Runnable> run(model, placement_of(model.lps(), configuration), options, configuration);
    return run.run([&](auto& scheduler) { scheduler.each_lp(use); });
}

template <Model M, class Use>
RunResult run_complete_model(const M& model, const RunConfiguration& configuration, Use use) {
    std::uint64_t digest = 0;
    const auto show = [&](std::uint32_t lp, const auto& state) {
        digest += digest_of(model, lp, state.model);
        use(lp, state.model);
    };
    RunResult run;
    if (model.lookahead() > 0) {
        HandlerModel<M, false> runnable(model);
        const Time cell = configuration.cell > 0 ? std::min(configuration.cell, model.lookahead()) : model.lookahead();
        run.statistics = run_model_detail::run(runnable, configuration, cell, show);
    } else if constexpr (needs_lookahead<M>) {
        throw_needs_lookahead();
    } else {
        HandlerModel<M, true> runnable(model);
        const Time cell = configuration.cell > 0 ? configuration.cell : cell_without_lookahead(model);
        run.statistics = run_model_detail::run(runnable, configuration, cell, show);
    }
    run.digest = digest;
    sum_over_processes(run.statistics, configuration.transport);
    sum_over_processes(std::span(&run.digest, 1), configuration.transport);
    return run;
}

}  // namespace run_model_detail

/// Runs `model` to its end as `configuration` says, and then calls `use` with the number and the state of each LP of
/// this process. Throws InputError if the model cannot be run with this configuration, and what the model or the poll
/// throws.
template <class M, class Use>
RunResult run_model(const M& model, const RunConfiguration& configuration, Use use) {
    static_assert(Model<M>, "the model does not satisfy the concept Model of pdes/model.hpp");
    if constexpr (Model<M>) {  // else there would be errors behind this one
        return run_model_detail::run_complete_model(model, configuration, use);
    } else {
        return {};
    }
}

}  // namespace idlewave::pdes
