#pragma once

#include <cstdint>
#include <vector>

#include "pdes/placement.hpp"
#include "pdes/traffic.hpp"

namespace idlewave::pdes {

/// LPs side by side, of which it is counted together how many events they have: so many groups at most.
inline constexpr std::uint32_t most_groups = 1 << 12;

/// LPs side by side on each partition, such that all have about as many events: those of group i had `weights[i]`.
Placement balanced(const std::vector<std::uint64_t>& weights, std::uint32_t lps, std::uint32_t partitions);

/// As a table for groups (Traffic) says. Throws InputError if it is not of all groups, or of a partition that does not
/// exist.
Placement by_groups(const std::vector<std::uint32_t>& partition_of, std::uint32_t lps, std::uint32_t partitions);

}  // namespace idlewave::pdes
