#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/program.hpp"
#include "extrapolation/found_law.hpp"
#include "extrapolation/recognition.hpp"

namespace idlewave::extrapolation {

struct ExtrapolationOptions {
    std::uint32_t ranks = 1;
    std::optional<ProcessGrid> grid = {};  ///< with so many ranks; else it continues those of the runs
    bool fitted_times = true;  ///< computation follows the law of the traced runs; else it is that of the largest one
};

struct Extrapolation {
    collectives::Program program;
    std::vector<ProcessGrid> traced;                   ///< by run, the smallest first
    std::optional<NeighbourKind::On> neighbours = {};  ///< none: all ranks make the same calls
    std::vector<std::string> peers;                    ///< rules of peers, in words
    std::vector<FoundLaw> sizes;                       ///< in bytes
    std::vector<FoundLaw> times;                       ///< in ns
    std::vector<std::uint8_t> one_sided_dimensions;    ///< as in SymbolicProgram
    std::string other_structure;                       ///< as in FoundStructure
};

/// Continues a program that was traced with several numbers of ranks on more ranks. Its structure is recognised in the
/// largest run and must give each smaller one, call by call. Throws an InputError that says what does not fit.
Extrapolation extrapolate(std::span<const collectives::Program* const> runs, const ExtrapolationOptions& options);

}  // namespace idlewave::extrapolation
