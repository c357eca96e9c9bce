#pragma once

#include <array>
#include <cstdint>

#include "collectives/step.hpp"

namespace idlewave::collectives {

using Dims = std::array<std::uint32_t, 3>;

/// The number of ranks in each of `count` dimensions (1 to 3), as by MPI_Dims_create: dimensions that are `wanted` (not
/// 0) are kept; the others are as equal as possible, the largest first. Dimensions beyond `count` have one rank. Throws
/// InputError if the product of the wanted dimensions does not divide `size`, or if all are wanted and it differs from
/// `size`.
Dims fitting_dims(std::uint32_t size, std::uint32_t count, const Dims& wanted = {});

/// The position of a rank in a Cartesian grid. The last dimension varies fastest, as in MPI_Cart_create.
///
/// Choosing dimensions takes long compared to a step: the shape should already contain them (`fitting_dims`).
class Grid {
  public:
    Grid(const CollectiveCall& call, std::uint32_t dimensions);

    [[nodiscard]] const GridShape& shape() const { return shape_; }

    /// Whether the rank has a neighbour other than itself, one step up or down in a dimension.
    [[nodiscard]] bool has_neighbour(std::uint32_t dimension, bool up, bool periodic) const;
    [[nodiscard]] std::uint32_t neighbour(std::uint32_t dimension, bool up) const;
    [[nodiscard]] std::uint64_t face_bytes(std::uint32_t dimension) const;

  private:
    std::uint32_t rank_;
    std::uint64_t bytes_;
    GridShape shape_;
    Dims at_{};
    Dims stride_{};
};

}  // namespace idlewave::collectives
