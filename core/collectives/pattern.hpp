#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/composition.hpp"

namespace idlewave {

/// One call of a collective operation by `ranks` ranks, from root 0.
inline Composition pattern(const Algorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes,
                           double reduction_cost) {
    Stage stage{.step = algorithm.step, .call = {.bytes = bytes, .reduction_cost = reduction_cost}};
    Job job{.ranks = ranks};
    job.stages.push_back(std::move(stage));
    std::vector<Job> jobs;
    jobs.push_back(std::move(job));
    return Composition(std::move(jobs));
}

}  // namespace idlewave
