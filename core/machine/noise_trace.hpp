#pragma once

#include <cstdint>
#include <utility>
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

    [[nodiscard]] bool silent() const { return entries_.empty(); }
    [[nodiscard]] Time period() const { return period_; }
    [[nodiscard]] Phase phase_kind() const { return phase_; }

    /// The phase of rank `rank` under `seed`: where in the trace it is at time 0, in [0, period).
    [[nodiscard]] Time phase(std::uint64_t seed, std::uint32_t rank) const;

    /// When a work is done, and a stretch of time that touches it and has no detour.
    struct Done {
        Time end = 0;
        Time quiet_from = 0;
        Time quiet_until = 0;    ///< where the next detour begins
        std::uint32_t next = 0;  ///< which detour that is
    };

    /// When work `w`, begun at `t` by a rank of phase `phase`, is done. Work that is done exactly when a detour
    /// begins does not suffer from it; a start inside a detour waits for its end, even with no work.
    [[nodiscard]] Done run(Time phase, Time t, Time w) const;

    /// The same for one who knows that detour number `next` begins at `next_begins`, and that it is quiet from `t`
    /// until then if `t` lies before it. Fast where few detours lie between.
    [[nodiscard]] Done run_from(Time next_begins, std::uint32_t next, Time phase, Time t, Time w) const;

    /// How much of the time from 0 to `t` is outside of detours, for a rank of phase `phase`. Throws TimeOverflow.
    [[nodiscard]] Time free_before(Time phase, Time t) const;

    /// The end alone.
    [[nodiscard]] Time finish(Time phase, Time t, Time w) const { return run(phase, t, w).end; }

  private:
    /// A detour with what the formulas need; `before` is the sum of the lengths of the detours before it.
    struct Entry {
        Time start;
        Time end;
        Time before;

        [[nodiscard]] Time free() const { return start - before; }  ///< CPU time available before it
    };

    /// Where to look for a value among ascending ones: how many lie before each of equally wide cells of their range.
    struct Grid {
        std::vector<std::uint32_t> before;
        unsigned shift = 0;  ///< a cell is 2^shift ps wide

        /// The values that can be next to `value`: from the first index up to, and not including, the second.
        [[nodiscard]] std::pair<std::size_t, std::size_t> around(Time value) const {
            const auto cell = static_cast<std::size_t>(value >> shift);
            return {before[cell], before[cell + 1]};
        }
    };

    template <class Value>
    [[nodiscard]] Grid grid_of(Time range, Value value) const;
    [[nodiscard]] std::size_t detours_begun(Time position) const;
    [[nodiscard]] std::size_t detours_entered(Time free) const;
    [[nodiscard]] Time next_start(std::size_t begun) const;
    [[nodiscard]] Time free_of(Time position) const;
    [[nodiscard]] std::uint32_t number(std::size_t begun) const;
    [[nodiscard]] Done run_far(Time t, Time position, Time free_here, Time w) const;

    std::vector<Entry> entries_;
    Grid by_start_;  ///< by where they begin
    Grid by_free_;   ///< by the CPU time available before them
    Time period_ = 1;
    Time stolen_ = 0;  ///< by all detours of a period
    Phase phase_ = Phase::random;
    std::vector<Time> phases_;
};

}  // namespace idlewave
