#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace idlewave::machine {

/// How the ranks' phases in a noise trace are chosen.
enum class Phase : std::uint8_t {
    random,  ///< one for each rank, drawn from the seed
    same,    ///< one for all, drawn from the seed: co-scheduled noise
    given    ///< a list, repeated over the ranks
};

/// A detour: the CPU stands still from `start` for `length`.
struct Detour {
    Time start = 0;
    Time length = 0;
};

/// The detours of one period, which is repeated without end.
class NoiseTrace {
  public:
    NoiseTrace() = default;

    /// `detours` must ascend, must not overlap, and must lie inside [0, period) without filling it. Throws InputError.
    NoiseTrace(const std::vector<Detour>& detours, Time period, Phase phase, std::vector<Time> phases = {});

    [[nodiscard]] bool silent() const { return entries_.empty(); }
    [[nodiscard]] Time period() const { return period_; }
    [[nodiscard]] Phase phase_kind() const { return phase_; }

    /// The phase of `rank` under `seed`: its position in the trace at time 0, in [0, period).
    [[nodiscard]] Time phase(std::uint64_t seed, std::uint32_t rank) const;

    /// The end of a piece of work, and an interval without detours that touches it.
    struct Completion {
        Time end = 0;
        Time quiet_from = 0;
        Time quiet_until = 0;    ///< begin of the next detour
        std::uint32_t next = 0;  ///< number of that detour
    };

    /// The time at which work `w`, begun at `t` by a rank of phase `phase`, is done. A detour that begins exactly when
    /// the work is done does not delay it. Work that begins inside a detour waits for the detour's end, even if `w` is
    /// 0.
    [[nodiscard]] Completion run(Time phase, Time t, Time w) const;

    /// The same for a caller that knows detour number `next`, which begins at `next_begins`, and that there is no
    /// detour between `t` and `next_begins`. Fast if few detours lie between `next_begins` and the end of the work.
    [[nodiscard]] Completion run_from(Time next_begins, std::uint32_t next, Time phase, Time t, Time w) const;

    /// The CPU time outside detours from 0 to `t` for a rank of phase `phase`. Throws TimeOverflow.
    [[nodiscard]] Time free_before(Time phase, Time t) const;

    /// `run`, without the interval.
    [[nodiscard]] Time finish(Time phase, Time t, Time w) const { return run(phase, t, w).end; }

  private:
    /// A detour in the form of the formulas; `before` is the sum of the lengths of the detours before it.
    struct Entry {
        Time start;
        Time end;
        Time before;

        [[nodiscard]] Time free() const { return start - before; }  ///< CPU time available before it
    };

    /// An index into an ascending list of values: the range is cut into cells of equal width, and `before` counts the
    /// values before each cell.
    struct Grid {
        std::vector<std::uint32_t> before;
        unsigned shift = 0;  ///< a cell is 2^shift ps wide

        /// The half-open range of indices among which the neighbours of `value` lie.
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
    [[nodiscard]] Completion run_over_detours(Time t, Time position, Time free_here, Time w) const;

    std::vector<Entry> entries_;
    Grid by_start_;  ///< by the begin of the detours
    Grid by_free_;   ///< by the CPU time available before the detours
    Time period_ = 1;
    Time stolen_ = 0;  ///< sum of the lengths of a period's detours
    Phase phase_ = Phase::random;
    std::vector<Time> phases_;
};

}  // namespace idlewave::machine
