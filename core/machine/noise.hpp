#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.hpp"

namespace idlewave {

/// How the ranks' phases in a noise trace are chosen.
enum class Phase : std::uint8_t {
    random,  ///< one per rank, drawn from the seed
    same,    ///< one for all, drawn from the seed: co-scheduled noise
    given    ///< a list, repeated over the ranks
};

/// A detour: the CPU stands still from `start` for `length`.
struct Detour {
    Time start = 0;
    Time length = 0;
};

/// Detours of one period, repeated for ever. Without detours there is no noise.
class NoiseTrace {
  public:
    NoiseTrace() = default;

    /// `detours` in ascending order, not overlapping, inside [0, period), and not all of it. Throws InputError.
    NoiseTrace(const std::vector<Detour>& detours, Time period, Phase phase, std::vector<Time> phases = {});

    [[nodiscard]] bool silent() const { return starts_.empty(); }
    [[nodiscard]] Time period() const { return period_; }

    /// The phase of rank `rank` under `seed`: where in the trace it is at time 0, in [0, period).
    [[nodiscard]] Time phase(std::uint64_t seed, std::uint32_t rank) const;

    /// When work `w`, begun at `t` by a rank of phase `phase`, is done. Work that is done exactly when a detour
    /// begins does not suffer from it; a start inside a detour waits for its end, even with no work.
    [[nodiscard]] Time finish(Time phase, Time t, Time w) const;

    /// A stretch of time without detours: from `from` up to, and not including, the detour that begins at `until`.
    struct Quiet {
        Time from = 0;
        Time until = 0;
    };

    /// The stretch in which `t` lies; empty if `t` lies in a detour.
    [[nodiscard]] Quiet quiet(Time phase, Time t) const;

  private:
    [[nodiscard]] std::size_t detours_begun(Time position) const;
    [[nodiscard]] Time after_detour(std::size_t i, Time position) const;
    void build_grid();

    std::vector<Time> starts_;  ///< where each detour begins in the period
    std::vector<Time> ends_;
    std::vector<Time> before_;  ///< sum of the lengths of the detours before the i-th; one entry more than detours
    std::vector<Time> free_;    ///< CPU time available from the period's start to the i-th detour
    std::vector<std::uint32_t> grid_;  ///< detours begun before each of equally wide cells of the period
    unsigned grid_shift_ = 0;          ///< a cell is 2^shift ps wide
    Time period_ = 1;
    Phase phase_ = Phase::random;
    std::vector<Time> phases_;
};

/// The noise of a run: a trace, and each rank's phase under the run's seed.
class Noise {
  public:
    Noise(const NoiseTrace& trace, std::uint64_t seed, std::uint32_t ranks);

    using Quiet = NoiseTrace::Quiet;

    /// A stretch without detours around `t`; empty if `t` lies in a detour.
    [[nodiscard]] Quiet quiet(std::uint32_t rank, Time t) const {
        return trace_ == nullptr ? Quiet{0, never} : trace_->quiet(phases_[rank], t);
    }

    /// When work `w`, begun by rank `rank` at `t`, is done.
    [[nodiscard]] Time finish(std::uint32_t rank, Time t, Time w) const {
        return trace_ == nullptr ? later(t, w) : trace_->finish(phases_[rank], t, w);
    }

  private:
    const NoiseTrace* trace_ = nullptr;  ///< null: silent
    std::vector<Time> phases_;
};

}  // namespace idlewave
