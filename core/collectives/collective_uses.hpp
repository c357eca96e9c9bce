#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/program.hpp"

namespace idlewave::collectives {

/// How many collectives follow an algorithm.
struct CollectiveUse {
    Collective collective = Collective::barrier;
    std::string_view algorithm;
    std::uint64_t calls = 0;  ///< those of all ranks of a communicator together are one

    bool operator==(const CollectiveUse&) const = default;
};

/// Which algorithms the collectives of so many copies of a program follow, those of windows and files among them; by
/// collective, the most frequent algorithm first. Without those of one rank alone. Empty for a program with a
/// structure.
std::vector<CollectiveUse> collective_uses(const Program& program, std::uint32_t copies);

}  // namespace idlewave::collectives
