#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "machine/noise_state.hpp"
#include "machine/noise_trace.hpp"
#include "machine/poisson_noise.hpp"

namespace idlewave {

/// Detours of two kinds: those of a trace, whose times are the clock's (a timer's tick), and random ones. The random
/// ones count the time that the trace leaves, and stand still during its detours: work of both adds up, as an interrupt
/// lengthens the daemon that it hits.
class MixedNoise {
  public:
    /// `trace` has a phase that is not given; its phase kind holds for both. Throws InputError.
    MixedNoise(NoiseTrace trace, PoissonNoise random);

    [[nodiscard]] NoiseState begin(std::uint64_t seed, std::uint32_t rank) const;

    /// When work `w`, begun at `t`, is done; as of NoiseTrace. The state serves the random detours alone.
    Time run(NoiseState& state, Time t, Time w) const;

  private:
    NoiseTrace trace_;
    PoissonNoise random_;
};

}  // namespace idlewave
