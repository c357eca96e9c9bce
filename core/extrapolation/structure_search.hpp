#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "extrapolation/comparison.hpp"
#include "extrapolation/recognition.hpp"
#include "extrapolation/symbolic_program.hpp"
#include "extrapolation/traced_run.hpp"

namespace idlewave::extrapolation {

/// A program that all runs are runs of, and what it has in each of them.
struct FoundStructure {
    SymbolicProgram program = {};
    std::vector<Measured> runs = {};                   ///< the smallest first
    std::optional<NeighbourKind::On> neighbours = {};  ///< none: all ranks make the same calls
    std::string other_structure = {};  ///< one that was tried before and that the runs may have as well, in words
};

/// Recognises the structure of the largest run, the last one, and holds it against all. Throws an InputError with what
/// does not fit.
FoundStructure find_structure(std::span<const TracedRun> runs);

/// The grid of `ranks` ranks that continues those of the runs: of near-square ones a near-square one, of those with as
/// many ranks in all dimensions but one a longer one. None if they show neither.
std::optional<ProcessGrid> continued_grid(std::span<const Measured> runs, std::uint32_t ranks);

}  // namespace idlewave::extrapolation
