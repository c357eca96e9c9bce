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
constexpr std::string_view ft =
    "Nishtala, Hargrove, Bonachea, Yelick: Scaling communication-intensive applications on BlueGene/P using one-sided "
    "communication and overlap, IPDPS 2009; as in NAS FT";

constexpr std::array all{
    Pattern{"halo1d", halo1d, 1, "Ranks in a row exchange faces with both neighbours, then compute.", stencil},
    Pattern{"halo2d", halo2d, 2, "Ranks of a 2-D grid exchange faces with four neighbours, then compute.", stencil},
    Pattern{"halo3d", halo3d, 3, "Ranks of a 3-D grid exchange faces with six neighbours, then compute.", stencil},
    Pattern{"sweep", sweep, 2,
            "Wavefronts cross a 2-D grid from its corners, block after block, with computation at every rank.", kba},
    Pattern{"slabs_two_sided", slabs_two_sided, 1,
            "Ranks compute slabs and send a part of each to every other rank, beside the next one.", ft, true},
    Pattern{"slabs_nonblocking", slabs_nonblocking, 1,
            "Ranks compute slabs; after each a nonblocking all-to-all begins, beside the next one.", ft, true},
    Pattern{"slabs_put", slabs_put, 1,
            "Ranks compute slabs and put a part of each to every other rank, beside the next one.", ft, true, true},
    Pattern{"packed_slabs_put", packed_slabs_put, 1,
            "Ranks compute slabs, and put all that goes to another rank at once.", ft, true, true},
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
    constexpr std::uint32_t most_slab_messages = 1U << 30;  // two steps each, and step numbers have 32 bits
    if (shape.blocks < 1 || shape.blocks > most_blocks) {
        throw InputError("expected 1 to " + std::to_string(most_blocks) + " blocks, found " +
                         std::to_string(shape.blocks));
    }
    if (shape.sweeps < 1 || shape.sweeps > 8) {
        throw InputError("expected 1 to 8 sweeps, found " + std::to_string(shape.sweeps));
    }
    if (pattern.by_slab && std::uint64_t{shape.blocks} * ranks > most_slab_messages) {
        throw InputError("expected at most " + std::to_string(most_slab_messages) + " slabs times ranks, found " +
                         std::to_string(std::uint64_t{shape.blocks} * ranks));
    }
    GridShape result = shape;
    result.dims = fitting_dims(ranks, pattern.dimensions, shape.dims);
    return result;
}

}  // namespace idlewave::collectives
