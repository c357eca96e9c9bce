#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "collectives/step.hpp"

/// A binomial tree whose subtrees are ranges: rank v (as seen from the root) stands for the 2^k ranks from v on, 2^k
/// its lowest set bit.
namespace idlewave {

/// How many children v may have, and where it stands: 2^level is its lowest set bit.
inline std::uint32_t subtree_level(std::uint32_t v, std::uint32_t size) {
    return static_cast<std::uint32_t>(v == 0 ? std::bit_width(size - 1) : std::countr_zero(v));
}

/// The end of the range of `v`, which is up to 2^level wide.
inline std::uint32_t subtree_end(std::uint32_t v, std::uint32_t level, std::uint32_t size) {
    const std::uint32_t left = size - v;
    return (std::uint64_t{1} << level) < left ? v + (std::uint32_t{1} << level) : size;
}

/// From the root down. `bytes_of(begin, end)` is the size of a range of ranks as seen from the root.
template <class BytesOf>
Step scatter_down(const CollectiveCall& call, StepNumber number, BytesOf bytes_of) {
    const std::uint32_t v = call.relative();
    const std::uint32_t level = subtree_level(v, call.size);
    if (number < 2) {
        if (v == 0) {
            return steps::jump(2);
        }
        return number == 0 ? steps::recv(number, call.absolute(v - (std::uint32_t{1} << level)),
                                         bytes_of(v, subtree_end(v, level, call.size)))
                           : steps::join(number);
    }
    const auto i = static_cast<std::uint32_t>(number - 2);
    if (i >= level) {
        return i == level ? steps::join(number) : steps::done();
    }
    const std::uint32_t below = level - 1 - i;
    const std::uint64_t child = v + (std::uint64_t{1} << below);
    if (child >= call.size) {
        return steps::skip(number);
    }
    const auto c = static_cast<std::uint32_t>(child);
    return steps::send(number, call.absolute(c), bytes_of(c, subtree_end(c, below, call.size)));
}

/// From the leaves up to the root, the nearest child first.
template <class BytesOf>
Step gather_up(const CollectiveCall& call, StepNumber number, BytesOf bytes_of) {
    const std::uint32_t v = call.relative();
    const std::uint32_t level = subtree_level(v, call.size);
    if (number < 2 * level) {
        const auto below = static_cast<std::uint32_t>(number) / 2;
        const std::uint64_t child = v + (std::uint64_t{1} << below);
        if (child >= call.size) {
            return steps::jump(2 * level);
        }
        const auto c = static_cast<std::uint32_t>(child);
        return number % 2 == 0 ? steps::recv(number, call.absolute(c), bytes_of(c, subtree_end(c, below, call.size)))
                               : steps::join(number);
    }
    if (v == 0 || number > 2 * level + 1) {
        return steps::done();
    }
    return number == 2 * level ? steps::send(number, call.absolute(v - (std::uint32_t{1} << level)),
                                             bytes_of(v, subtree_end(v, level, call.size)))
                               : steps::join(number);
}

}  // namespace idlewave
