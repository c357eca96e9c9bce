#pragma once

#include <cstdint>
#include <type_traits>

#include "base/time.hpp"

namespace idlewave::machine {

/// The position of a rank in its noise: an interval without detours, in which most work falls, and the detour that
/// follows it. It is a cache: the times of the simulation do not depend on it.
struct NoiseState {
    Time quiet_from = 0;       ///< begin of the interval
    Time quiet_until = 0;      ///< end of the interval; a detour may begin here
    std::uint64_t origin = 0;  ///< trace: the phase in ps; Poisson and mixed noise: the seed
    std::uint32_t entity = 0;  ///< Poisson and mixed noise: the rank, or one number for all ranks
    std::uint32_t index = 0;   ///< number of the detour that begins at `quiet_until`
};

static_assert(sizeof(NoiseState) <= 32 && std::is_trivially_copyable_v<NoiseState>);

}  // namespace idlewave::machine
