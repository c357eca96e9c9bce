#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "base/time.hpp"
#include "machine/mixed_noise.hpp"
#include "machine/noise_state.hpp"
#include "machine/noise_trace.hpp"
#include "machine/poisson_noise.hpp"

namespace idlewave {

/// The noise of a machine's CPUs: none, recorded, random detours, or both. What a rank remembers of it is in a
/// NoiseState.
class Noise {
  public:
    Noise() = default;
    Noise(NoiseTrace trace) : kind_(std::move(trace)) {}        // NOLINT(google-explicit-constructor): noise is noise
    Noise(PoissonNoise poisson) : kind_(std::move(poisson)) {}  // NOLINT(google-explicit-constructor)
    Noise(MixedNoise mixed) : kind_(std::move(mixed)) {}        // NOLINT(google-explicit-constructor)

    /// Whether no work ever suffers.
    [[nodiscard]] bool silent() const;

    /// What rank `rank` has to remember under `seed`.
    [[nodiscard]] NoiseState begin(std::uint64_t seed, std::uint32_t rank) const;

    /// When work `w`, begun at `t` by the rank of `state`, is done: a pure function of seed, rank, `t` and `w`. Work
    /// that is done exactly when a detour begins does not suffer from it; a start inside a detour waits for its end,
    /// even with no work. Fast when `t` never decreases. Throws TimeOverflow.
    Time finish(NoiseState& state, Time t, Time w) const {
        if (state.quiet_from <= t && t < state.quiet_until && w <= state.quiet_until - t) {
            return t + w;
        }
        return finish_elsewhere(state, t, w);
    }

  private:
    Time finish_elsewhere(NoiseState& state, Time t, Time w) const;

    std::variant<std::monostate, NoiseTrace, PoissonNoise, MixedNoise> kind_;
};

}  // namespace idlewave
