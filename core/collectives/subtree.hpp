#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "collectives/step.hpp"

/// A binomial tree whose subtrees are ranges of ranks: rank v relative to the root is the root of the subtree of the
/// 2^k ranks from v on, where 2^k is the lowest set bit of v.
namespace idlewave::collectives {

/// The level k of v, which is also its largest number of children.
inline std::uint32_t subtree_level(std::uint32_t v, std::uint32_t size) {
    return static_cast<std::uint32_t>(v == 0 ? std::bit_width(size - 1) : std::countr_zero(v));
}

/// The end of the subtree of `v`, which has up to 2^level ranks.
inline std::uint32_t subtree_end(std::uint32_t v, std::uint32_t level, std::uint32_t size) {
    const std::uint32_t left = size - v;
    return (std::uint64_t{1} << level) < left ? v + (std::uint32_t{1} << level) : size;
}

/// Scatter from the root down. `bytes_of(begin, end)` is the size of the blocks of a range of relative ranks.
template <class BytesOf>
Step scatter_down(const CollectiveCall& call, StepNumber number, BytesOf bytes_of) {
    const std::uint32_t v = call.relative();
    const std::uint32_t level = subtree_level(v, call.size);
    if (number == 0) {
        return v == 0 ? steps::skip(number)
                      : steps::and_join(steps::recv(number, call.absolute(v - (std::uint32_t{1} << level)),
                                                    bytes_of(v, subtree_end(v, level, call.size))));
    }
    const std::uint32_t i = number - 1;
    if (i >= level) {
        return steps::done();
    }
    const std::uint32_t below = level - 1 - i;
    const std::uint64_t child = v + (std::uint64_t{1} << below);
    if (child >= call.size) {
        return steps::skip(number);
    }
    const auto c = static_cast<std::uint32_t>(child);
    return steps::and_join(steps::send(number, call.absolute(c), bytes_of(c, subtree_end(c, below, call.size))),
                           below == 0);
}

/// Gather from the leaves up to the root; a rank receives from its nearest child first.
template <class BytesOf>
Step gather_up(const CollectiveCall& call, StepNumber number, BytesOf bytes_of) {
    const std::uint32_t v = call.relative();
    const std::uint32_t level = subtree_level(v, call.size);
    if (number < level) {
        const std::uint64_t child = v + (std::uint64_t{1} << number);
        if (child >= call.size) {
            return steps::jump(level);
        }
        const auto c = static_cast<std::uint32_t>(child);
        return steps::and_join(steps::recv(number, call.absolute(c), bytes_of(c, subtree_end(c, number, call.size))));
    }
    return v == 0 || number > level
               ? steps::done()
               : steps::and_join(steps::send(number, call.absolute(v - (std::uint32_t{1} << level)),
                                             bytes_of(v, subtree_end(v, level, call.size))));
}

}  // namespace idlewave::collectives
