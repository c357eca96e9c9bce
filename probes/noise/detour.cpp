// The selfish detour benchmark: what takes the CPU away from a loop that wants nothing but the time.
//
// A loop reads the processor's time counter. An undisturbed iteration takes t_min; one above 9 t_min is a detour
// of length t - t_min (P. Beckman, K. Iskra, K. Yoshii, S. Coghlan: The influence of operating systems on the
// performance of collective operations at extreme scale, 2006). There t_min is the shortest iteration; here it is
// the mean of the shortest of many in a row, since a counter that goes in steps may be read twice within one, and
// some then say 1 tick, which is no iteration's time. Calibration and measurement run the same code: only the
// threshold differs. The recording is bounded in time and in records; what does not fit is counted and timed.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "noise/counts.hpp"
#include "noise/resolution.hpp"
#include "noise/session.hpp"

namespace {

using idlewave::Bounds;
using idlewave::Counts;
using idlewave::never;
using idlewave::Ticks;

constexpr Ticks threshold_factor = 9;

struct Detour {
    Ticks begin;   // the last reading before it
    Ticks length;  // of the iteration, t_min included
};

struct CountedDetour : Detour {
    Counts counts;  // what the kernel counted across it
};

// The time of a loop that nothing disturbs.
struct Resolution {
    double read = 0;       // ticks of one reading of the counter
    double iteration = 0;  // and of one iteration
    Ticks shortest = 1;    // t_min: of a counter coarser than the loop one tick, which then is the resolution
    Ticks counting = 0;    // of reading the kernel's counts
};

// Reads the kernel's counts behind a detour, and keeps the time that this takes out of the recording.
struct Counting {
    idlewave::ThreadCounts source;
    Counts last;
    Ticks longest_reading = never;  // a longer one was disturbed itself
    bool on = false;                // not during the calibration
    Ticks blind = 0;                // in which a detour could not be seen
};

struct Nothing {};

template <class Row>
struct DetourRecording : idlewave::Recorded {
    static constexpr bool counted = std::is_same_v<Row, CountedDetour>;
    std::vector<Row> rows;
    std::size_t count = 0;
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
[[gnu::always_inline]] inline Ticks keep(DetourRecording<Detour>& recording, Detour detour) {
    recording.add(detour);
    return detour.begin + detour.length;
}

// A reading of the counts that took too long was hit by a detour itself, which is recorded with what is counted then.
[[gnu::noinline]] Ticks count_and_keep(DetourRecording<CountedDetour>& recording, Detour detour) {
    Counting& counting = recording.counting;
    for (;;) {
        const Ticks before = detour.begin + detour.length;
        const Counts now = counting.source.read_counts();
        const Ticks after = idlewave::read_ticks();
        recording.add({detour, now - counting.last});
        counting.last = now;
        if (after - before <= counting.longest_reading) {
            counting.blind += after - before;
            return after;
        }
        const Ticks typical = recording.resolution.counting;
        counting.blind += typical;
        detour = {before + typical, after - before - typical};
    }
}

[[gnu::always_inline]] inline Ticks keep(DetourRecording<CountedDetour>& recording, Detour detour) {
    if (recording.counting.on) return count_and_keep(recording, detour);
    recording.add({detour, {}});
    return detour.begin + detour.length;
}

// The loop of the benchmark: keeps every iteration of at least so many ticks, until a time or a signal. Not inlined, so
// that calibration and measurement are one piece of machine code.
template <class Row>
[[gnu::noinline]] void record(DetourRecording<Row>& recording, Ticks least, Ticks begin, Ticks end) {
    const idlewave::StopFlag& stop = idlewave::stop_flag;
    recording.count = 0;
    recording.dropped = 0;
    recording.dropped_ticks = 0;
    Ticks shortest = never;
    Ticks before = begin;
    while (before < end && !stop.raised.load(std::memory_order_relaxed)) {
        const Ticks now = idlewave::read_ticks();
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

// In several short rounds, since a processor may take a while to become fast.
template <class Row>
Resolution calibrate(double tick_ns) {
    constexpr int rounds = 10;
    constexpr std::size_t in_a_row = idlewave::reads_in_a_row;
    const auto round_ticks = static_cast<Ticks>(2e6 / tick_ns);
    DetourRecording<Row> all;
    all.rows.resize(1 << 16);
    Resolution result;
    Ticks shortest = never;
    result.read = static_cast<double>(never);
    for (int round = 0; (round < rounds || shortest == never) && !idlewave::stop_asked(); ++round) {
        result.read = std::min(result.read, idlewave::shortest_read(2000));
        const Ticks begin = idlewave::read_ticks();
        record(all, 0, begin, begin + round_ticks);
        for (std::size_t i = 0; i + in_a_row < all.count; i += in_a_row) {
            shortest = std::min(shortest, all.rows[i + in_a_row].begin - all.rows[i].begin);
        }
    }
    result.shortest = std::max<Ticks>(1, (shortest + in_a_row / 2) / in_a_row);
    result.iteration = std::max(1.0, static_cast<double>(shortest) / in_a_row);
    return result;
}

// What reading the counts takes: the median of many, and twice that at most.
Ticks calibrate_counting(Counting& counting) {
    std::vector<Ticks> times(1001);
    for (Ticks& time : times) {
        const Ticks begin = idlewave::read_ticks();
        counting.last = counting.source.read_counts();
        time = idlewave::read_ticks() - begin;
    }
    std::nth_element(times.begin(), times.begin() + 500, times.end());
    return times[500];
}

template <class Row>
DetourRecording<Row> prepare(const Bounds& bounds) {
    DetourRecording<Row> recording;
    recording.resolution = calibrate<Row>(bounds.tick_ns);
    recording.rows.resize(bounds.records);  // writes every page, on this core's node, so that none is missing later
    Resolution& resolution = recording.resolution;
    if constexpr (DetourRecording<Row>::counted) {
        Counting& counting = recording.counting;
        resolution.counting = calibrate_counting(counting);
        counting.longest_reading = 2 * resolution.counting + threshold_factor * resolution.shortest;
        counting.on = true;
    }
    const Ticks begin = idlewave::read_ticks();  // a rehearsal, thrown away
    record(recording, threshold_factor * resolution.shortest + 1, begin,
           begin + static_cast<Ticks>(2e7 / bounds.tick_ns));
    return recording;
}

template <class Row>
void record_within(DetourRecording<Row>& recording, Ticks start, const Bounds& bounds) {
    const Ticks shortest = recording.resolution.shortest;
    if constexpr (DetourRecording<Row>::counted) {
        recording.counting.blind = 0;
        recording.counting.last = recording.counting.source.read_counts();
    }
    record(recording, threshold_factor * shortest + 1, idlewave::read_ticks(), start + bounds.length);
    recording.dropped_ticks -= recording.dropped * shortest;
}

template <class Row>
idlewave::Table table_of(const DetourRecording<Row>& recording, double tick_ns) {
    const auto ps = [&](Ticks ticks) { return std::llround(static_cast<double>(ticks) * tick_ns * 1000); };
    idlewave::Table table{{"start_ps", "length_ps"}, {}};
    if constexpr (DetourRecording<Row>::counted) {
        table.columns.insert(table.columns.end(), {"switches", "migrations", "faults"});
    }
    table.numbers.reserve(recording.count * table.columns.size());
    for (std::size_t i = 0; i < recording.count; ++i) {
        const Row& row = recording.rows[i];
        table.numbers.push_back(ps(row.begin - recording.begin));
        table.numbers.push_back(ps(row.length - recording.resolution.shortest));
        if constexpr (DetourRecording<Row>::counted) {
            table.numbers.insert(table.numbers.end(), {row.counts.switches, row.counts.migrations, row.counts.faults});
        }
    }
    return table;
}

template <class Row>
idlewave::json::Object describe_core(const DetourRecording<Row>& recording, double tick_ns) {
    const Resolution& resolution = recording.resolution;
    idlewave::json::Object result;
    result.add("resolution_ns", resolution.iteration * tick_ns).add("counter_cost_ns", resolution.read * tick_ns);
    result.add("threshold_ns", static_cast<double>(threshold_factor * resolution.shortest) * tick_ns);
    result.add("shortest_seen_ns", static_cast<double>(recording.shortest_seen) * tick_ns);
    if constexpr (DetourRecording<Row>::counted) {
        const Counting& counting = recording.counting;
        idlewave::json::Object counts;
        counts.add("source", counting.source.by_events() ? "perf_event_open" : "getrusage");
        counts.add("why", counting.source.why_not());
        counts.add("reading_ns", static_cast<double>(resolution.counting) * tick_ns);
        counts.add("blind_ns", static_cast<double>(counting.blind) * tick_ns);
        result.add("counts", counts);
    }
    return result;
}

struct DetourProbe {
    using Plain = DetourRecording<Detour>;
    using Counted = DetourRecording<CountedDetour>;

    struct Recording : idlewave::Recorded {
        std::variant<Plain, Counted> kept;
    };

    static constexpr const char* name = "detour";
    static constexpr const char* purpose =
        "Records what takes the CPU away from a loop that does nothing but read the time counter: the start and the\n"
        "length of every detour, for each core. A row takes 16 bytes of memory, with --counts 40; without --records\n"
        "there is room for a million a core, or for as many as fit into a quarter of the free memory.";

    bool counts = false;

    std::vector<idlewave::Argument> arguments() {
        return {{"counts", "", "count context switches, migrations and page faults across each detour",
                 idlewave::flag_to(counts)}};
    }
    std::size_t row_bytes() const { return counts ? sizeof(CountedDetour) : sizeof(Detour); }
    double rows_in(double /*seconds*/) const { return 0; }
    void settle(double /*tick_ns*/) const {}

    Recording prepare(const Bounds& bounds) const {
        if (counts) return {{}, ::prepare<CountedDetour>(bounds)};
        return {{}, ::prepare<Detour>(bounds)};
    }

    void record(Recording& recording, Ticks start, const Bounds& bounds) const {
        std::visit(
            [&](auto& kept) {
                record_within(kept, start, bounds);
                static_cast<idlewave::Recorded&>(recording) = static_cast<const idlewave::Recorded&>(kept);
            },
            recording.kept);
    }

    idlewave::Table table(const Recording& recording, double tick_ns) const {
        return std::visit([&](const auto& kept) { return table_of(kept, tick_ns); }, recording.kept);
    }
    idlewave::json::Object describe(const Recording& recording, double tick_ns) const {
        return std::visit([&](const auto& kept) { return describe_core(kept, tick_ns); }, recording.kept);
    }
    idlewave::json::Object describe(double /*tick_ns*/) const { return idlewave::json::Object().add("counts", counts); }
};

}  // namespace

int main(int argc, char** argv) {  // NOLINT(misc-const-correctness): the language's signature
    return idlewave::run_noise_probe<DetourProbe>(argc, argv);
}
