// The selfish detour benchmark: it records what takes the CPU away from a loop that only reads the time.
//
// A loop reads the processor's time counter. An undisturbed iteration takes t_min; one above 9 t_min is a detour
// of length t - t_min (P. Beckman, K. Iskra, K. Yoshii, S. Coghlan: The influence of operating systems on the
// performance of collective operations at extreme scale, 2006). There t_min is the shortest iteration. Here it is
// the mean of the shortest row of iterations: a counter that advances in steps may be read twice within one step, and
// some counters then differ by 1 tick, which is no iteration's time. Calibration and measurement run the same code:
// only the threshold differs. The recording is bounded in time and in records; records that do not fit are counted and
// timed.

#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "noise/counts.hpp"
#include "noise/probe.hpp"
#include "noise/resolution.hpp"

namespace idlewave::probe {

constexpr Ticks threshold_factor = 9;
constexpr Ticks threshold_steps = 2;

struct TimedDetour {
    Ticks begin;   // the last reading before the detour
    Ticks length;  // length of the iteration, t_min included
};

struct CountedDetour : TimedDetour {
    Counts counts;  // the kernel's counts across the detour
};

// The time of an undisturbed loop.
struct Resolution {
    double read = 0;       // ticks of one reading of the counter
    double iteration = 0;  // ticks of one iteration
    Ticks shortest = 1;    // t_min; one tick, the resolution, if the counter is coarser than the loop
    Ticks step = 1;        // the longest iteration of the quickest row: a counter may advance many ticks at once
    Ticks counting = 0;    // ticks of one reading of the kernel's counts

    // A longer iteration is a detour, and no step of the counter.
    Ticks threshold() const { return std::max(threshold_factor * shortest, threshold_steps * step); }
};

// Reads the kernel's counts after a detour, and excludes the time of the reading from the recording.
struct Counting {
    ThreadCounts source;
    Counts last;
    Ticks longest_reading = never;  // a longer reading was disturbed itself
    bool on = false;                // false during the calibration
    Ticks blind = 0;                // time in which a detour could not be detected
};

struct Nothing {};

template <class Row>
struct DetourRecording : Recorded {
    static constexpr bool counted = std::is_same_v<Row, CountedDetour>;
    std::vector<Row> rows;
    Ticks shortest_seen = never;
    Resolution resolution;
    std::conditional_t<counted, Counting, Nothing> counting;

    void add(const Row& row) {
        if (count < rows.size()) {
            rows[count++] = row;
        } else {
            ++dropped;
            dropped_ticks += row.length;
        }
    }
};

// Records a detour. Returns the reading from which the loop continues.
[[gnu::always_inline]] inline Ticks keep(DetourRecording<TimedDetour>& recording, TimedDetour detour) {
    recording.add(detour);
    return detour.begin + detour.length;
}

// Records a detour with the counts since the previous one. Returns the time at which the counts had been read.
inline Ticks keep_counted(DetourRecording<CountedDetour>& recording, const TimedDetour& detour) {
    Counting& counting = recording.counting;
    const Counts now = counting.source.read_counts();
    const Ticks after = read_ticks();
    recording.add({detour, now - counting.last});
    counting.last = now;
    return after;
}

// A reading of the counts that takes too long was hit by a detour itself, which is recorded with the counts then. The
// reading after that one is not examined, so that this ends even if every reading has become slow.
[[gnu::noinline]] inline Ticks count_and_keep(DetourRecording<CountedDetour>& recording, const TimedDetour& detour) {
    Counting& counting = recording.counting;
    const Resolution& resolution = recording.resolution;
    const Ticks before = detour.begin + detour.length;
    const Ticks after = keep_counted(recording, detour);
    if (after - before <= counting.longest_reading) {
        counting.blind += after - before;
        return after;
    }
    const Ticks length = after - before - resolution.counting + resolution.shortest;  // t_min included, as in all rows
    const Ticks end = keep_counted(recording, {before + resolution.counting, length});
    counting.blind += resolution.counting + (end - after);
    return end;
}

[[gnu::always_inline]] inline Ticks keep(DetourRecording<CountedDetour>& recording, TimedDetour detour) {
    if (recording.counting.on) return count_and_keep(recording, detour);
    recording.add({detour, {}});
    return detour.begin + detour.length;
}

// The loop of the benchmark: it records every iteration of at least `least` ticks, until `end` or a signal. It is not
// inlined, so that calibration and measurement run the same machine code.
template <class Row>
[[gnu::noinline]] void record(DetourRecording<Row>& recording, Ticks least, Ticks begin, Ticks end) {
    const StopFlag& stop = stop_flag;
    recording.count = 0;
    recording.dropped = 0;
    recording.dropped_ticks = 0;
    Ticks shortest = never;
    Ticks before = begin;
    while (before < end && !stop.raised.load(std::memory_order_relaxed)) {
        const Ticks now = read_ticks();
        const Ticks length = now - before;
        shortest = length < shortest ? length : shortest;
        if (length >= least) [[unlikely]] {
            before = keep(recording, {before, length});
        } else {
            before = now;
        }
    }
    recording.begin = begin;
    recording.end = before;
    recording.shortest_seen = shortest;
}

}  // namespace idlewave::probe
