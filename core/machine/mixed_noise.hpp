#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "machine/noise_state.hpp"
#include "machine/noise_trace.hpp"
#include "machine/poisson_noise.hpp"

namespace idlewave::machine {

/// Detours of two kinds: those of a trace, which begin at times of the clock (such as timer ticks), and random ones.
/// The gaps between random detours are CPU time outside the trace's detours, and a trace's detour that falls into a
/// random one lengthens it: an interrupt delays the daemon that it interrupts.
class MixedNoise {
  public:
    /// The phase kind of both must be the same, and not `given`. Throws InputError.
    MixedNoise(NoiseTrace trace, PoissonNoise random);

    [[nodiscard]] NoiseState begin(std::uint64_t seed, std::uint32_t rank) const;

    /// The time at which work `w`, begun at `t`, is done, with the rules of NoiseTrace. The state belongs to the random
    /// detours; those of the trace need none.
    Time run(NoiseState& state, Time t, Time w) const;

  private:
    NoiseTrace trace_;
    PoissonNoise random_;
};

}  // namespace idlewave::machine
