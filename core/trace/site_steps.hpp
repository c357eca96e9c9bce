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

/// Which step of a rhythm each computation of a site is.
struct SiteSteps {
    std::uint32_t steps = 1;            ///< of the rhythm; 1: there is none
    std::vector<std::uint8_t> step_of;  ///< by computation, below `steps`; empty without a rhythm

    [[nodiscard]] std::uint32_t step(std::size_t computation) const { return steps == 1 ? 0 : step_of[computation]; }
};

/// The rhythm of a site's computations on each of some ranks, in order. A loop may make calls in different places that
/// are one site, as their sequence is the same: then the times repeat themselves every two to twelve computations. The
/// rhythm begins anew where the site was left for longer than usual. It is the shortest with which the computations are
/// less than half as far from the median of their step as from that of the site.
std::vector<SiteSteps> steps_of(std::span<const std::vector<SiteComputation>> ranks);

}  // namespace idlewave::trace
