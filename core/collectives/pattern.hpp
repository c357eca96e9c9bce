#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithm_rules.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/composition.hpp"
#include "collectives/step.hpp"

namespace idlewave::collectives {

/// The parameters of one operation of a pattern; an operation ignores those that it does not use.
struct PatternCall {
    std::uint64_t bytes = 1;
    double reduction_cost = 0;  ///< ns per byte
    std::uint32_t root = 0;
    std::uint64_t segment = default_segment;
    std::uint32_t ways = 2;
    std::vector<std::uint64_t> send_counts = {};
    std::vector<std::uint64_t> recv_counts = {};
    GridShape shape = {};
};

/// The stage that executes `name` in a group of `ranks` ranks: a pattern of patterns(), "compute" (computation of
/// shape.compute_ns), or a collective by `algorithm` ("": as `rules` say where all ranks have equal counts, else the
/// default). Throws InputError if a name is unknown, or if the parameters are invalid for it.
Stage stage_of(std::string_view name, std::string_view algorithm, std::uint32_t ranks, const PatternCall& call,
               const AlgorithmRules& rules = {});

/// A composition of one job in which all `ranks` ranks execute `stages`, `repetitions` times.
inline Composition all_ranks(std::uint32_t ranks, std::vector<Stage> stages, std::uint32_t repetitions = 1) {
    Job job{.ranks = ranks};
    job.stages = std::move(stages);
    job.repetitions = repetitions;
    std::vector<Job> jobs;
    jobs.push_back(std::move(job));
    return Composition(std::move(jobs));
}

/// One call of a collective operation by `ranks` ranks, from root 0.
inline Composition pattern(const Algorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes,
                           double reduction_cost) {
    Stage stage{.step = algorithm.step, .call = {.bytes = bytes, .reduction_cost = reduction_cost}};
    std::vector<Stage> stages;
    stages.push_back(std::move(stage));
    return all_ranks(ranks, std::move(stages));
}

}  // namespace idlewave::collectives
