// The selfish detour benchmark: what takes the CPU away from a loop that wants nothing but the time.
//
// A loop reads the processor's time counter. An undisturbed iteration takes t_min; one above 9 t_min is a detour
// of length t - t_min (P. Beckman, K. Iskra, K. Yoshii, S. Coghlan: The influence of operating systems on the
// performance of collective operations at extreme scale, 2006). There t_min is the shortest iteration; here it is
// the mean of the shortest of many in a row, since a counter that goes in steps may be read twice within one, and
// some then say 1 tick, which is no iteration's time. Calibration and measurement run the same code: only the
// threshold differs. The recording is bounded in time and in records; what does not fit is counted and timed.

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
    Ticks begin;   // the last reading before it
    Ticks length;  // of the iteration, t_min included
};

struct CountedDetour : TimedDetour {
    Counts counts;  // what the kernel counted across it
};

// The time of a loop that nothing disturbs.
struct Resolution {
    double read = 0;       // ticks of one reading of the counter
    double iteration = 0;  // and of one iteration
    Ticks shortest = 1;    // t_min: of a counter coarser than the loop one tick, which then is the resolution
    Ticks step = 1;        // the longest iteration of the quickest row: a counter may go many ticks at once
    Ticks counting = 0;    // of reading the kernel's counts

    // What is longer is a detour, and no step of the counter.
    Ticks threshold() const { return std::max(threshold_factor * shortest, threshold_steps * step); }
};

// Reads the kernel's counts behind a detour, and keeps the time that this takes out of the recording.
struct Counting {
    ThreadCounts source;
    Counts last;
    Ticks longest_reading = never;  // a longer one was disturbed itself
    bool on = false;                // not during the calibration
    Ticks blind = 0;                // in which a detour could not be seen
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

// Keeps a detour. The answer is the reading that the loop goes on from.
[[gnu::always_inline]] inline Ticks keep(DetourRecording<TimedDetour>& recording, TimedDetour detour) {
    recording.add(detour);
    return detour.begin + detour.length;
}

// Keeps a detour with what was counted since the one before. The answer is when the counts had been read.
inline Ticks keep_counted(DetourRecording<CountedDetour>& recording, const TimedDetour& detour) {
    Counting& counting = recording.counting;
    const Counts now = counting.source.read_counts();
    const Ticks after = read_ticks();
    recording.add({detour, now - counting.last});
    counting.last = now;
    return after;
}

// A reading of the counts that took too long was hit by a detour itself, which is recorded with what is counted then.
// Behind that one nothing more is looked for: should every reading have become slow, this ends all the same.
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

// The loop of the benchmark: keeps every iteration of at least so many ticks, until a time or a signal. Not inlined, so
// that calibration and measurement are one piece of machine code.
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
