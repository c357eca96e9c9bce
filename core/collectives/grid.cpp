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

GridShape fitting_shape(const CollectiveCall& call, std::uint32_t dimensions) {
    GridShape shape = call.shape == nullptr ? GridShape{} : *call.shape;
    shape.dims = fitting_dims(call.size, dimensions, shape.dims);
    return shape;
}

}  // namespace idlewave::collectives
