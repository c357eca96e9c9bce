#pragma once

#include <array>
#include <cstdint>

#include "collectives/step.hpp"

namespace idlewave {

using Dims = std::array<std::uint32_t, 3>;

/// Ranks in each of `count` dimensions (1 to 3), as MPI_Dims_create chooses them: those that are `wanted` (not 0) stay,
/// the others are as near to each other as can be, the largest first. Dimensions beyond `count` have one rank. Throws
/// InputError where the wanted ones do not divide the size, or leave nothing to choose and do not make it up.
Dims fitting_dims(std::uint32_t size, std::uint32_t count, const Dims& wanted = {});

/// Where a rank stands in a Cartesian grid: the last dimension runs fastest, as in MPI_Cart_create.
///
/// Choosing dimensions takes long compared to a step, so a shape should have them: see `fitting_dims`.
class Grid {
  public:
    Grid(const CollectiveCall& call, std::uint32_t dimensions);

    [[nodiscard]] const GridShape& shape() const { return shape_; }

    /// Whether there is a neighbour one step up or down in a dimension, other than the rank itself.
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

}  // namespace idlewave
