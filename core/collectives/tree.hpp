#pragma once

#include <bit>
#include <cstdint>

#include "collectives/step.hpp"

/// A binomial tree with doubling distance: in round k, rank v < 2^k relative to the root sends to v + 2^k.
namespace idlewave::collectives {

/// The round in which `v` sends to its first child.
inline std::uint32_t first_round(std::uint32_t v) {
    return static_cast<std::uint32_t>(std::bit_width(v));
}

inline std::uint32_t parent(std::uint32_t v) {
    return v - std::bit_floor(v);
}

/// The number of children of `v` among `size` ranks: one in each round k from its first on with v + 2^k < size.
inline std::uint32_t children(std::uint32_t v, std::uint32_t size) {
    const auto rounds = static_cast<std::uint32_t>(std::bit_width(size - v - 1));
    return rounds > first_round(v) ? rounds - first_round(v) : 0;
}

inline std::uint32_t child(std::uint32_t v, std::uint32_t i) {
    return v + (std::uint32_t{1} << (first_round(v) + i));
}

/// Up the tree. The child of the last round has the smallest subtree, and is received from first.
inline Step up_the_tree(const CollectiveCall& call, StepNumber number, bool reducing) {
    const std::uint32_t v = call.relative();
    const std::uint32_t count = children(v, call.size);
    if (number < 2 * count) {
        if (number % 2 == 1) {
            return reducing ? steps::reduce(call, number, call.bytes) : steps::skip(number);
        }
        const std::uint32_t i = count - 1 - number / 2;
        return steps::and_join(steps::recv(number, call.absolute(child(v, i)), call.bytes));
    }
    return v == 0 || number > 2 * count ? steps::done()
                                        : steps::and_join(steps::send(number, call.absolute(parent(v)), call.bytes));
}

}  // namespace idlewave::collectives
