#pragma once

#include <cstdint>
#include <type_traits>

#include "base/time.hpp"

namespace idlewave {

/// What a rank remembers of its noise: a stretch without detours, in which most work lies, and where to go on from it.
/// A memory only: times do not depend on it.
struct NoiseState {
    Time quiet_from = 0;       ///< no detour begins or lasts from here
    Time quiet_until = 0;      ///< up to here, where one may begin
    std::uint64_t origin = 0;  ///< a trace's phase in ps; the seed of Poisson and mixed noise
    std::uint32_t entity = 0;  ///< Poisson and mixed noise: whose detours these are
    std::uint32_t index = 0;   ///< the number of the detour that begins at `quiet_until`
};

static_assert(sizeof(NoiseState) <= 32 && std::is_trivially_copyable_v<NoiseState>);

}  // namespace idlewave
