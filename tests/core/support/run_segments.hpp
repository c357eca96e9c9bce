#pragma once

#include <cstdint>

#include "pdes/handler_model.hpp"
#include "pdes/run_model.hpp"
#include "pdes/segmented_run.hpp"
#include "segmented_runs.hpp"

/// The definitions of segmented_runs.hpp.
namespace idlewave::testing {

template <class M>
pdes::RunResult run(const M& written, const pdes::RunConfiguration& options) {
    return pdes::run_model(written, options, [](std::uint32_t /*lp*/, const typename M::State& /*state*/) {});
}

template <class M>
RunWithRecords run_with_records(const M& written, const pdes::RunConfiguration& configuration) {
    using Model = pdes::HandlerModel<M, false>;
    Model model(written);
    pdes::SegmentedRun<Model> run(model, pdes::Placement::cyclic(model.lps(), configuration.partitions()),
                                  {.cell = model.lookahead()}, configuration);
    RunWithRecords found;
    found.statistics = run.run([&](auto& partitions) {
        partitions.each_emitted([&](const auto& emitted) { found.emitted.push_back(emitted); });
    });
    return found;
}

}  // namespace idlewave::testing
