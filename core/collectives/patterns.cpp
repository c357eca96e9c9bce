#include "collectives/patterns.hpp"

#include <array>
#include <string>

#include "base/error.hpp"
#include "collectives/grid.hpp"

namespace idlewave::collectives {
namespace {

constexpr std::string_view stencil = "MPI_Cart_create and MPI_Irecv, MPI_Isend, MPI_Waitall, as stencil codes do it";
constexpr std::string_view kba =
    "Koch, Baker, Alcouffe: Solution of the first-order form of the 3-D discrete ordinates equation on a massively "
    "parallel processor, 1992; as in Sweep3D";

constexpr std::array all{
    Pattern{"halo1d", halo1d, 1, "Ranks in a row exchange faces with both neighbours, then compute.", stencil},
    Pattern{"halo2d", halo2d, 2, "Ranks of a 2-D grid exchange faces with four neighbours, then compute.", stencil},
    Pattern{"halo3d", halo3d, 3, "Ranks of a 3-D grid exchange faces with six neighbours, then compute.", stencil},
    Pattern{"sweep", sweep, 2,
            "Wavefronts cross a 2-D grid from its corners, block after block, with computation at every rank.", kba},
};

}  // namespace

std::span<const Pattern> patterns() {
    return all;
}

const Pattern* find_pattern(std::string_view name) {
    for (const Pattern& candidate : all) {
        if (candidate.name == name) {
            return &candidate;
        }
    }
    return nullptr;
}

GridShape fitted(const Pattern& pattern, const GridShape& shape, std::uint32_t ranks) {
    constexpr std::uint32_t most_blocks = 1U << 26;
    if (shape.blocks < 1 || shape.blocks > most_blocks) {
        throw InputError("expected 1 to " + std::to_string(most_blocks) + " blocks, found " +
                         std::to_string(shape.blocks));
    }
    if (shape.sweeps < 1 || shape.sweeps > 8) {
        throw InputError("expected 1 to 8 sweeps, found " + std::to_string(shape.sweeps));
    }
    GridShape result = shape;
    result.dims = fitting_dims(ranks, pattern.dimensions, shape.dims);
    return result;
}

}  // namespace idlewave::collectives
