#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "base/time.hpp"
#include "machine/mixed_noise.hpp"
#include "machine/noise_state.hpp"
#include "machine/noise_trace.hpp"
#include "machine/poisson_noise.hpp"

namespace idlewave::machine {

/// The noise of a machine's CPUs: none, recorded detours, random detours, or both. A NoiseState holds the position of
/// one rank in it.
class Noise {
  public:
    Noise() = default;
    Noise(NoiseTrace trace) : kind_(std::move(trace)) {}        // NOLINT(google-explicit-constructor): noise is noise
    Noise(PoissonNoise poisson) : kind_(std::move(poisson)) {}  // NOLINT(google-explicit-constructor)
    Noise(MixedNoise mixed) : kind_(std::move(mixed)) {}        // NOLINT(google-explicit-constructor)

    /// Whether there are no detours.
    [[nodiscard]] bool silent() const;

    /// The initial state of `rank` under `seed`.
    [[nodiscard]] NoiseState begin(std::uint64_t seed, std::uint32_t rank) const;

    /// The time at which work `w`, begun at `t` by the rank of `state`, is done: a pure function of seed, rank, `t` and
    /// `w`. A detour that begins exactly when the work is done does not delay it. Work that begins inside a detour
    /// waits for the detour's end, even if `w` is 0. Fast when `t` never decreases. Throws TimeOverflow.
    Time finish(NoiseState& state, Time t, Time w) const {
        if (state.quiet_from <= t && t < state.quiet_until && w <= state.quiet_until - t) {
            return t + w;
        }
        return finish_with_detours(state, t, w);
    }

  private:
    Time finish_with_detours(NoiseState& state, Time t, Time w) const;

    std::variant<std::monostate, NoiseTrace, PoissonNoise, MixedNoise> kind_;
};

}  // namespace idlewave::machine
