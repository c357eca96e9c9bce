// The concept of a noise probe: what it records and how, without what all of them have in common.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/ticks.hpp"

namespace idlewave::probe {

// What every recording has, whatever its rows.
struct Recorded {
    Ticks begin = 0;
    Ticks end = 0;
    std::size_t count = 0;    // rows
    std::size_t dropped = 0;  // rows for which there was no room
    Ticks dropped_ticks = 0;  // their time
};

// A range of a recording's rows.
struct Rows {
    std::size_t first = 0;
    std::size_t end = 0;
};

// The begin of a recording whose thread leaves the common start now. The thread takes some time to get here when the
// code is not cached. If it takes longer, something took its core away, which is noise from the start on.
inline Ticks begin_of_recording(Ticks start, double tick_ns) {
    constexpr double prompt_ns = 10'000;
    const Ticks now = read_ticks_ordered();
    return static_cast<double>(now - start) * tick_ns <= prompt_ns ? now : start;
}

// The length of a recording, and its number of rows.
struct Bounds {
    Ticks length = 0;
    std::size_t records = 0;
    double likely = 0;   // the likely number of rows, or 0 if it is not known
    double tick_ns = 0;  // roughly; the run itself gives the exact value
};

// What differs between the probes. `settle` is called once, pinned to the first core; `prepare` and `record` on each
// core; the other functions after the recording. `prepare` may end early when a signal has come.
template <class Probe>
concept NoiseProbe = requires(Probe& probe, const Probe& fixed, typename Probe::CoreRecording& recording,
                              const Bounds& bounds, const Rows& rows, Ticks start, double tick_ns, double seconds) {
    requires std::derived_from<typename Probe::CoreRecording, Recorded>;
    { Probe::name } -> std::convertible_to<std::string>;
    { Probe::purpose } -> std::convertible_to<std::string>;
    { probe.arguments() } -> std::same_as<std::vector<CommandOption>>;
    { fixed.row_bytes() } -> std::same_as<std::size_t>;
    { fixed.rows_in(seconds) } -> std::same_as<double>;  // Bounds::likely
    { probe.settle(tick_ns) };
    { fixed.prepare(bounds) } -> std::same_as<typename Probe::CoreRecording>;
    { fixed.record(recording, start, bounds) };
    { fixed.columns() } -> std::same_as<std::vector<std::string>>;
    { fixed.numbers(recording, rows, tick_ns) } -> std::same_as<std::vector<std::int64_t>>;  // row by row
    { fixed.describe(recording, tick_ns) } -> std::same_as<json::Object>;
    { fixed.describe(tick_ns) } -> std::same_as<json::Object>;
};

}  // namespace idlewave::probe
