#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "machine/detour_length.hpp"
#include "machine/noise_state.hpp"
#include "machine/noise_trace.hpp"

namespace idlewave {

/// One cause of random detours.
struct PoissonSource {
    double interval = 0;  ///< mean gap between its detours in ps of CPU time, at least a nanosecond
    DetourLength length;
};

/// Detours that come at random: after each the CPU is available for an exponential time until the next begins, so they
/// never overlap. Gap, source and length of a detour are pure functions of (seed, rank, the detour's number).
class PoissonNoise {
  public:
    /// Sources add up: gaps are as short as those of all together, and a detour is a source's in proportion to its
    /// rate. `phase` random: each rank has detours of its own; same: all have the same ones. Throws InputError.
    PoissonNoise(std::vector<PoissonSource> sources, Phase phase);

    PoissonNoise(double interval, DetourLength length, Phase phase)
        : PoissonNoise({{interval, std::move(length)}}, phase) {}

    [[nodiscard]] Phase phase_kind() const { return phase_; }

    [[nodiscard]] NoiseState begin(std::uint64_t seed, std::uint32_t rank) const;

    /// When work `w`, begun at `t`, is done; as of NoiseTrace: work that is done exactly when a detour begins does not
    /// suffer from it, and a start inside a detour waits for its end, even with no work. The state stays at `t`, so a
    /// detour is drawn a few times in all when `t` never decreases; when it does, counting begins anew. Throws
    /// TimeOverflow.
    Time run(NoiseState& state, Time t, Time w) const;

    /// The detours of a rank that begin before `until`.
    [[nodiscard]] std::vector<Detour> detours(std::uint64_t seed, std::uint32_t rank, Time until) const;

  private:
    [[nodiscard]] Time length_of(const NoiseState& state) const;
    void quiet_after(NoiseState& state, Time end) const;
    void pass(NoiseState& state) const;

    std::vector<PoissonSource> sources_;
    std::vector<double> shares_;  ///< by source: the part of all detours that are its own or a former one's
    double interval_ = 0;         ///< mean gap between any two detours
    Phase phase_;
};

}  // namespace idlewave
