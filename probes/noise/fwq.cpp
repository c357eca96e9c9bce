// Fixed work quanta (FWQ): measures how long each repetition of the same work takes (the benchmark of the ASC Sequoia
// procurement, Lawrence Livermore National Laboratory, 2009). The probe calibrates the work once, on the first core: an
// undisturbed quantum takes the time asked for. Then every core repeats this work.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "noise/resolution.hpp"
#include "noise/session.hpp"
#include "noise/work.hpp"

namespace {

using namespace idlewave::probe;

struct WorkQuantum {
    Ticks begin;
    Ticks duration;
};

struct WorkQuantaRecording : Recorded {
    std::vector<WorkQuantum> quanta;
};

[[gnu::noinline]] void work(WorkState& state, std::int64_t units) {
    for (std::int64_t i = 0; i < units; ++i) work_unit(state);
}

// Records until `end` or a signal; a quantum ends where the next begins.
[[gnu::noinline]] void record_work_quanta(WorkQuantaRecording& recording, std::int64_t units, Ticks begin, Ticks end) {
    WorkState state = end;
    recording.count = 0;
    recording.dropped = 0;
    recording.dropped_ticks = 0;
    Ticks before = begin;
    recording.begin = begin;
    while (before < end && !stop_asked()) {
        work(state, units);
        const Ticks now = read_ticks_ordered();
        if (recording.count < recording.quanta.size()) {
            recording.quanta[recording.count++] = {before, now - before};
        } else {
            ++recording.dropped;
            recording.dropped_ticks += now - before;
        }
        before = now;
    }
    recording.end = before;
}

// The number of units that take the time asked for, by the quickest of many quanta.
std::int64_t calibrate(Ticks wanted) {
    constexpr int tries = 200;
    WorkState state = 1;
    const auto shortest = [&](std::int64_t units) {
        Ticks best = never;
        for (int i = 0; i < tries; ++i) {
            const Ticks begin = read_ticks_ordered();
            work(state, units);
            best = std::min(best, read_ticks_ordered() - begin);
        }
        return static_cast<double>(std::max<Ticks>(1, best));
    };
    constexpr std::int64_t few = 100;
    constexpr std::int64_t many = 1000;
    const double unit = (shortest(many) - shortest(few)) / (many - few);
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(wanted) / unit));
}

struct FwqProbe {
    using CoreRecording = WorkQuantaRecording;

    static constexpr const char* name = "fwq";
    static constexpr const char* purpose =
        "Fixed work quanta: times each repetition of the same work on each core. A row takes 16 bytes of memory; "
        "without --records there is\n"
        "room for all quanta, if they fit into a quarter of the free memory.";

    double work_us = 100;
    std::int64_t units = 0;

    std::vector<CommandOption> arguments() {
        return {{"work-us", "W", "how long the work takes undisturbed: 1 us to 1 s (100)", number_to(work_us, 1, 1e6)}};
    }
    std::size_t row_bytes() const { return sizeof(WorkQuantum); }
    // Three times the expected number: the processor may have been slow while the work was calibrated.
    double rows_in(double seconds) const { return std::ceil(3 * seconds * 1e6 / work_us) + 10; }
    void settle(double tick_ns) { units = calibrate(static_cast<Ticks>(work_us * 1000 / tick_ns)); }

    CoreRecording prepare(const Bounds& bounds) const {
        WorkQuantaRecording recording;
        recording.quanta.resize(bounds.records);   // writes every page, so that none is missing later
        const Ticks begin = read_ticks_ordered();  // of a rehearsal
        record_work_quanta(recording, units, begin, begin + static_cast<Ticks>(2e7 / bounds.tick_ns));
        return recording;
    }

    void record(CoreRecording& recording, Ticks start, const Bounds& bounds) const {
        record_work_quanta(recording, units, begin_of_recording(start, bounds.tick_ns), start + bounds.length);
    }

    std::vector<std::string> columns() const { return {"start_ps", "duration_ps"}; }
    std::vector<std::int64_t> numbers(const CoreRecording& recording, const Rows& rows, double tick_ns) const {
        std::vector<std::int64_t> result;
        for (std::size_t i = rows.first; i < rows.end; ++i) {
            result.push_back(picoseconds(recording.quanta[i].begin - recording.begin, tick_ns));
            result.push_back(picoseconds(recording.quanta[i].duration, tick_ns));
        }
        return result;
    }
    json::Object describe(const CoreRecording& /*recording*/, double /*tick_ns*/) const { return {}; }
    json::Object describe(double /*tick_ns*/) const {
        return json::Object().add("work", units).add("work_ns", work_us * 1000).add("unit", describe_work_unit());
    }
};

}  // namespace

int main(int argc, char** argv) {  // NOLINT(misc-const-correctness): the language's signature
    return run_noise_probe<FwqProbe>(argc, argv);
}
