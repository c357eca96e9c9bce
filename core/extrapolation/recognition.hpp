#pragma once

#include <optional>
#include <string>

#include "extrapolation/symbolic_program.hpp"
#include "extrapolation/traced_run.hpp"

namespace idlewave::extrapolation {

/// Why a run was not recognised.
struct Refusal {
    std::string what = {};
    bool two_ranks = false;  ///< all would be clear but for a dimension of two ranks
};

/// The program of a run in which all ranks make the same calls, with other peers; none if they do not, or peers follow
/// no rule on the grid. `why` gets the reason.
std::optional<SymbolicProgram> recognise_uniform(const RunOnGrid& run, Refusal& why);

/// Who is whose neighbour.
struct NeighbourKind {
    enum class On : std::uint8_t {
        grid,
        tree,  ///< parents and children of a binary tree
        star   ///< rank 0 and all others
    };

    On on = On::grid;
    std::array<bool, ProcessGrid::dimensions> periodic{};  ///< of a grid
};

/// The program of a run in which a rank makes the calls for the neighbours that it has.
std::optional<SymbolicProgram> recognise_neighbours(const RunOnGrid& run, const NeighbourKind& kind, Refusal& why);

/// Decides in which direction steps go along dimensions of two ranks: as along one of more ranks with as many calls.
/// Returns false if there is none.
bool find_directions(SymbolicProgram& program);

/// Makes series of items that repeat themselves with other peers. Returns false if messages with each other rank in
/// turn form no series.
bool find_series(SymbolicProgram& program);

}  // namespace idlewave::extrapolation
