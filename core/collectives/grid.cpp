#include "collectives/grid.hpp"

#include <string>

#include "base/error.hpp"

namespace idlewave::collectives {
namespace {

/// The largest divisor d of `n` with d^power ≤ n.
std::uint32_t divisor_up_to_root(std::uint32_t n, unsigned power) {
    const auto fits = [n, power](std::uint64_t d) { return power == 2 ? d * d <= n : d * d * d <= n; };
    std::uint32_t best = 1;
    for (std::uint32_t d = 1; fits(d); ++d) {
        best = n % d == 0 ? d : best;
    }
    return best;
}

/// The two factors of `n` that are closest to each other, the larger one first.
std::array<std::uint32_t, 2> near_square(std::uint32_t n) {
    const std::uint32_t less = divisor_up_to_root(n, 2);
    return {n / less, less};
}

/// The three factors of `n` with the least sum, which approximates the brick with the least surface.
Dims near_cube(std::uint32_t n) {
    Dims best{n, 1, 1};
    std::uint64_t least = std::uint64_t{n} + 2;
    for (std::uint32_t d = divisor_up_to_root(n, 3); d >= 1; --d) {
        if (n % d != 0) {
            continue;
        }
        const auto [larger, less] = near_square(n / d);
        const std::uint64_t sum = std::uint64_t{larger} + less + d;
        if (less >= d && sum < least) {
            least = sum;
            best = {larger, less, d};
        }
    }
    return best;
}

[[noreturn]] void refuse(std::uint32_t size, std::uint32_t count, const Dims& wanted) {
    std::string text;
    for (std::uint32_t i = 0; i < count; ++i) {
        text += (i == 0 ? "" : " x ") + (wanted[i] == 0 ? std::string("any") : std::to_string(wanted[i]));
    }
    throw InputError("a grid of " + text + " does not have " + std::to_string(size) + " ranks");
}

}  // namespace

Dims fitting_dims(std::uint32_t size, std::uint32_t count, const Dims& wanted) {
    Dims dims{1, 1, 1};
    std::uint64_t given = 1;
    std::uint32_t open = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        given *= wanted[i] == 0 ? 1 : wanted[i];
        open += wanted[i] == 0 ? 1 : 0;
        if (given > size) {
            refuse(size, count, wanted);
        }
    }
    if (size % given != 0 || (open == 0 && given != size)) {
        refuse(size, count, wanted);
    }
    const auto rest = static_cast<std::uint32_t>(size / given);
    Dims chosen{rest, 1, 1};
    if (open == 2) {
        const auto [larger, less] = near_square(rest);
        chosen = {larger, less, 1};
    } else if (open == 3) {
        chosen = near_cube(rest);
    }
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        dims[i] = wanted[i] == 0 ? chosen[next++] : wanted[i];
    }
    return dims;
}

Grid::Grid(const CollectiveCall& call, std::uint32_t dimensions) : rank_(call.rank), bytes_(call.bytes) {
    if (call.shape != nullptr) {
        shape_ = *call.shape;
    }
    const bool given = [this, &call, dimensions] {
        std::uint64_t ranks = 1;
        for (std::uint32_t d = 0; d < dimensions; ++d) {
            ranks *= shape_.dims[d];
        }
        return ranks == call.size;
    }();
    if (!given) {
        shape_.dims = fitting_dims(call.size, dimensions, shape_.dims);
    }
    std::uint32_t rest = rank_;
    std::uint32_t stride = 1;
    for (std::uint32_t d = dimensions; d-- > 0;) {
        const std::uint32_t above = rest / shape_.dims[d];
        at_[d] = rest - above * shape_.dims[d];
        stride_[d] = stride;
        stride *= shape_.dims[d];
        rest = above;
    }
}

bool Grid::has_neighbour(std::uint32_t dimension, bool up, bool periodic) const {
    const std::uint32_t ranks = shape_.dims[dimension];
    return ranks > 1 && (periodic || (up ? at_[dimension] + 1 < ranks : at_[dimension] > 0));
}

std::uint32_t Grid::neighbour(std::uint32_t dimension, bool up) const {
    const std::uint32_t around = (shape_.dims[dimension] - 1) * stride_[dimension];
    if (up) {
        return at_[dimension] + 1 < shape_.dims[dimension] ? rank_ + stride_[dimension] : rank_ - around;
    }
    return at_[dimension] > 0 ? rank_ - stride_[dimension] : rank_ + around;
}

std::uint64_t Grid::face_bytes(std::uint32_t dimension) const {
    return shape_.face_bytes == std::array<std::uint64_t, 3>{} ? bytes_ : shape_.face_bytes[dimension];
}

}  // namespace idlewave::collectives
