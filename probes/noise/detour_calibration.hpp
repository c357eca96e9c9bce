// Calibration before detours are recorded on a core: the time of an undisturbed iteration.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "noise/detour_loop.hpp"
#include "noise/probe.hpp"
#include "noise/resolution.hpp"

namespace idlewave::probe {

template <class Row>
Ticks longest(std::span<Row> rows) {
    return std::max_element(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.length < b.length; })->length;
}

// It has several short rounds, because a processor may take a while to reach its speed.
template <class Row>
Resolution calibrate(double tick_ns) {
    constexpr int rounds = 10;
    constexpr std::size_t in_a_row = reads_in_a_row;
    const auto round_ticks = static_cast<Ticks>(2e6 / tick_ns);
    DetourRecording<Row> all;
    all.rows.resize(1 << 16);
    Resolution result;
    Ticks shortest = never;
    result.read = static_cast<double>(never);
    for (int round = 0; (round < rounds || shortest == never) && !stop_asked(); ++round) {
        result.read = std::min(result.read, shortest_read(2000));
        const Ticks begin = read_ticks();
        record(all, 0, begin, begin + round_ticks);
        for (std::size_t i = 0; i + in_a_row < all.count; i += in_a_row) {
            const Ticks length = all.rows[i + in_a_row].begin - all.rows[i].begin;
            if (length >= shortest) continue;
            shortest = length;
            result.step = longest(std::span(all.rows).subspan(i, in_a_row));
        }
    }
    result.shortest = std::max<Ticks>(1, (shortest + in_a_row / 2) / in_a_row);
    result.iteration = std::max(1.0, static_cast<double>(shortest) / in_a_row);
    return result;
}

// The time of one reading of the counts: the median of many.
inline Ticks calibrate_counting(Counting& counting) {
    std::vector<Ticks> times(1001);
    for (Ticks& time : times) {
        const Ticks begin = read_ticks();
        counting.last = counting.source.read_counts();
        time = read_ticks() - begin;
    }
    std::nth_element(times.begin(), times.begin() + 500, times.end());
    return times[500];
}

template <class Row>
DetourRecording<Row> prepare_detours(const Bounds& bounds) {
    DetourRecording<Row> recording;
    recording.resolution = calibrate<Row>(bounds.tick_ns);
    recording.rows.resize(bounds.records);  // writes every page, on this core's node, so that none is missing later
    Resolution& resolution = recording.resolution;
    if constexpr (DetourRecording<Row>::counted) {
        Counting& counting = recording.counting;
        resolution.counting = calibrate_counting(counting);
        counting.longest_reading = threshold_factor * (resolution.counting + resolution.shortest);
        counting.on = true;
    }
    const Ticks begin = read_ticks();  // of a rehearsal, which is thrown away
    record(recording, resolution.threshold() + 1, begin, begin + static_cast<Ticks>(2e7 / bounds.tick_ns));
    return recording;
}

template <class Row>
void record_within(DetourRecording<Row>& recording, Ticks start, const Bounds& bounds) {
    const Resolution& resolution = recording.resolution;
    if constexpr (DetourRecording<Row>::counted) {
        recording.counting.blind = 0;
        recording.counting.last = recording.counting.source.read_counts();
    }
    record(recording, resolution.threshold() + 1, begin_of_recording(start, bounds.tick_ns), start + bounds.length);
    recording.dropped_ticks -= recording.dropped * resolution.shortest;
}

}  // namespace idlewave::probe
