#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "extrapolation/found_law.hpp"
#include "extrapolation/structure_search.hpp"
#include "extrapolation/traced_run.hpp"

namespace idlewave::extrapolation {

/// How the computation of a program continues on a grid.
struct ContinuedComputation {
    std::vector<double> factors;  ///< by item: of the computation before it in the largest run
    std::vector<FoundLaw> laws;   ///< in ns
};

/// Finds the laws of the computation before the calls of each site, and before the waits for them. What a rank computes
/// before its first call is the start of the program, and stays as it is; so does what is less than a hundredth of all.
/// Throws an InputError if the computation before a site's calls is more than 30 % off any law.
ContinuedComputation continue_computation(const FoundStructure& found, std::span<const TracedRun> runs,
                                          const ProcessGrid& grid);

}  // namespace idlewave::extrapolation
