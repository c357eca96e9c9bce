#pragma once

#include <cstdint>
#include <vector>

#include "pdes/placement.hpp"

namespace idlewave::pdes {

/// LPs side by side, of which it is counted together how many events they have: so many groups at most.
inline constexpr std::uint32_t most_groups = 1 << 12;

/// How many LPs a group has.
inline std::uint32_t group_size(std::uint32_t lps) {
    std::uint32_t size = 1;
    while (lps / size >= most_groups) {
        size *= 2;
    }
    return size;
}

/// LPs side by side on each partition, such that all have about as many events: those of group i had `weights[i]`.
Placement balanced(const std::vector<std::uint64_t>& weights, std::uint32_t lps, std::uint32_t partitions);

}  // namespace idlewave::pdes
