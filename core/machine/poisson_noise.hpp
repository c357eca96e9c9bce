#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "machine/detour_length.hpp"
#include "machine/noise_state.hpp"
#include "machine/noise_trace.hpp"

namespace idlewave::machine {

/// One cause of random detours.
struct PoissonSource {
    double interval = 0;  ///< mean gap between its detours in ps of CPU time, at least a nanosecond
    DetourLength length;
};

/// Random detours: between the end of a detour and the begin of the next one the CPU is available for an exponentially
/// distributed time, so detours never overlap. Gap, source and length of a detour are pure functions of (seed, rank,
/// number of the detour).
class PoissonNoise {
  public:
    /// The rates of the sources add up, and a detour belongs to a source with a probability proportional to the
    /// source's rate. `phase` random: each rank has its own detours; same: all ranks have the same ones. Throws
    /// InputError.
    PoissonNoise(std::vector<PoissonSource> sources, Phase phase);

    PoissonNoise(double interval, DetourLength length, Phase phase)
        : PoissonNoise({{interval, std::move(length)}}, phase) {}

    [[nodiscard]] Phase phase_kind() const { return phase_; }

    [[nodiscard]] NoiseState begin(std::uint64_t seed, std::uint32_t rank) const;

    /// The time at which work `w`, begun at `t`, is done, with the rules of NoiseTrace::run. The state remains at the
    /// detours around `t`: each detour is drawn a few times if `t` never decreases. If `t` decreases, counting starts
    /// again at the first detour. Throws TimeOverflow.
    Time run(NoiseState& state, Time t, Time w) const;

    /// The detours of a rank that begin before `until`.
    [[nodiscard]] std::vector<Detour> detours(std::uint64_t seed, std::uint32_t rank, Time until) const;

  private:
    [[nodiscard]] Time length_of(const NoiseState& state) const;
    void quiet_after(NoiseState& state, Time end) const;
    void pass(NoiseState& state) const;

    std::vector<PoissonSource> sources_;
    std::vector<double> shares_;  ///< cumulative share of the detours, by source
    double interval_ = 0;         ///< mean gap between any two detours
    Phase phase_;
};

}  // namespace idlewave::machine
