#pragma once

#include <cstdint>
#include <vector>

#include "pdes/placement.hpp"

namespace idlewave::pdes {

/// Groups of neighbouring LPs whose events are counted together for migration: at most so many.
inline constexpr std::uint32_t max_groups = 1 << 12;

/// Neighbouring LPs on each partition, such that all have about the same number of events: group i had `weights[i]`.
Placement balanced(const std::vector<std::uint64_t>& weights, std::uint32_t lps, std::uint32_t partitions);

/// The placement that gives each group of CommunicationMatrix its partition. Throws InputError if `partition_of` does
/// not have one existing partition for each group.
Placement placement_of_groups(const std::vector<std::uint32_t>& partition_of, std::uint32_t lps,
                              std::uint32_t partitions);

}  // namespace idlewave::pdes
