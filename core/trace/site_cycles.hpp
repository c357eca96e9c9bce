#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace idlewave::trace {

/// A computation before a call of a site on one rank.
struct SiteComputation {
    std::uint64_t call = 0;  ///< number of the call on its rank
    std::int64_t ns = 0;
};

/// The cycle in which the times of a site's computations on one rank repeat themselves.
struct SiteCycle {
    std::uint32_t length = 1;             ///< in computations; 1: there is no cycle
    std::vector<std::uint8_t> positions;  ///< by computation: where in the cycle it is, from 0; empty without a cycle

    [[nodiscard]] std::uint32_t position(std::size_t computation) const {
        return length == 1 ? 0 : positions[computation];
    }
};

/// The cycles of a site's computations, by rank, all of one length. A loop may make calls in different places that are
/// one site, as their sequence is the same: then the times repeat themselves every two to twelve computations. The
/// cycle begins anew where the site was left for longer than usual.
///
/// How well a cycle fits is the sum of the distances of computations from the median of their position on their rank;
/// the first 4096 of each rank count. If that of the best cycle is less than half of that without a cycle, the shortest
/// cycle is taken whose sum is at most a quarter above the best one's.
std::vector<SiteCycle> cycles_of(std::span<const std::vector<SiteComputation>> ranks);

}  // namespace idlewave::trace
