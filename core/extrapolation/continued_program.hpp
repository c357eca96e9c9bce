#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/program.hpp"
#include "extrapolation/comparison.hpp"
#include "extrapolation/symbolic_program.hpp"
#include "extrapolation/traced_run.hpp"

namespace idlewave::extrapolation {

/// What the calls of a continued program have, on its grid.
struct Continued {
    std::function<Sizes(const PlannedCall&)> sizes;
    std::function<double(std::uint32_t item)> time_factor;  ///< of the largest run's computation before an item
};

/// Makes the program of the ranks of a grid. Ranks that make the same calls share one. It has the computation of a rank
/// of the largest run with the same neighbours, or else with most of them; for calls that this one does not make, the
/// mean of those ranks that do.
collectives::Program continued_program(const SymbolicProgram& program, const RunOnGrid& largest,
                                       const Measured& measured, const ProcessGrid& grid, const Continued& continued);

}  // namespace idlewave::extrapolation
