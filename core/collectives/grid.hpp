#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "collectives/step.hpp"
#include "goal/source.hpp"

namespace idlewave::collectives {

using Dims = std::array<std::uint32_t, 3>;

/// The number of ranks in each of `count` dimensions (1 to 3), as by MPI_Dims_create: dimensions that are `wanted` (not
/// 0) are kept; the others are as equal as possible, the largest first. Dimensions beyond `count` have one rank. Throws
/// InputError if the product of the wanted dimensions does not divide `size`, or if all are wanted and it differs from
/// `size`.
Dims fitting_dims(std::uint32_t size, std::uint32_t count, const Dims& wanted = {});

/// The shape of a call whose dimensions `fitting_dims` chooses, for a grid of `dimensions` (1 to 3) with the call's
/// ranks. Throws InputError.
GridShape fitting_shape(const CollectiveCall& call, std::uint32_t dimensions);

/// The position of a rank in a Cartesian grid. The last dimension varies fastest, as in MPI_Cart_create.
///
/// Choosing dimensions takes long compared to a step: the shape should already contain them (`fitting_dims`). The
/// number of dimensions is a constant, so that the compiler unrolls the loops: each step of an exchange needs a
/// position.
template <std::uint32_t dimensions>
class Grid {
  public:
    explicit Grid(const CollectiveCall& call) : rank_(call.rank), bytes_(call.bytes), shape_(call.shape) {
        if (shape_ == nullptr || ranks_from(0) != call.size) [[unlikely]] {
            fitted_ = fitting_shape(call, dimensions);
            shape_ = &*fitted_;
        }
    }
    Grid(const Grid&) = delete;  // it points into itself
    Grid& operator=(const Grid&) = delete;
    Grid(Grid&&) = delete;
    Grid& operator=(Grid&&) = delete;
    ~Grid() = default;

    [[nodiscard]] const GridShape& shape() const { return *shape_; }

    /// The neighbour one step up or down in a dimension: `no_rank` if there is none other than the rank itself.
    [[nodiscard]] std::uint32_t neighbour(std::uint32_t dimension, bool up, bool periodic) const {
        const std::uint32_t ranks = shape_->dims[dimension];
        const auto stride = static_cast<std::uint32_t>(ranks_from(dimension + 1));
        // In the first dimension the quotient is less than `ranks`: that saves a division.
        const std::uint32_t at = dimension == 0 ? rank_ / stride : rank_ / stride % ranks;
        if (up ? at + 1 < ranks : at > 0) [[likely]] {
            return up ? rank_ + stride : rank_ - stride;
        }
        if (!periodic || ranks == 1) {
            return goal::no_rank;
        }
        return up ? rank_ - at * stride : rank_ + (ranks - 1) * stride;
    }
    [[nodiscard]] std::uint64_t face_bytes(std::uint32_t dimension) const {
        const auto& given = shape_->face_bytes;
        return (given[0] | given[1] | given[2]) == 0 ? bytes_ : given[dimension];
    }

  private:
    /// The number of ranks with the same position in the dimensions before `first`.
    [[nodiscard]] std::uint64_t ranks_from(std::uint32_t first) const {
        std::uint64_t ranks = 1;
        for (std::uint32_t d = 0; d < dimensions; ++d) {  // over all dimensions: such a loop is unrolled
            ranks *= d < first ? 1 : shape_->dims[d];
        }
        return ranks;
    }

    std::uint32_t rank_;
    std::uint64_t bytes_;
    const GridShape* shape_;
    std::optional<GridShape> fitted_;  ///< if the call's shape does not fit
};

}  // namespace idlewave::collectives
