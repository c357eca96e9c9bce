// Fixed time quanta (FTQ): counts the work that a core does in each quantum [t0 + kQ, t0 + (k+1)Q) of an absolute grid
// (M. Sottile, R. Minnich: Analysis of microbenchmarks for performance tuning of clusters, 2004). The time counter
// alone gives the boundaries: they do not drift, and the samples are evenly spaced for a spectrum. A unit of work
// counts for the quantum in which it ends; a quantum that a detour covers has a count of 0.

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

struct QuantaRecording : Recorded {
    std::vector<std::int64_t> work;
    double unit_ticks = 0;  // the shortest time of a unit
};

// Records whole quanta only, until the buffer is full or a signal comes.
[[gnu::noinline]] void record_quanta(QuantaRecording& recording, Ticks start, Ticks quantum) {
    const StopFlag& stop = stop_flag;
    std::int64_t* const work = recording.work.data();
    const std::size_t room = recording.work.size();
    WorkState state = start;
    std::size_t k = 0;
    std::int64_t done = 0;
    Ticks boundary = start + quantum;
    while (k < room) {
        work_unit(state);
        const Ticks now = read_ticks();
        if (now >= boundary) [[unlikely]] {
            work[k++] = done;
            done = 0;
            boundary += quantum;
            while (now >= boundary && k < room) {
                work[k++] = 0;
                boundary += quantum;
            }
            if (stop.raised.load(std::memory_order_relaxed)) break;
        }
        ++done;
    }
    recording.count = k;
    recording.begin = start;
    recording.end = start + k * quantum;
}

// The shortest time of a unit: the quickest of many rows of units, done as the recording does them.
double shortest_unit() {
    constexpr int rows = 2000;
    constexpr int in_a_row = 64;
    Ticks shortest = never;
    WorkState state = 1;
    for (int row = 0; row < rows; ++row) {
        const Ticks begin = read_ticks();
        Ticks now = begin;
        for (int i = 0; i < in_a_row; ++i) {
            work_unit(state);
            now = read_ticks();
        }
        shortest = std::min(shortest, now - begin);
    }
    return static_cast<double>(shortest) / in_a_row;
}

struct FtqProbe {
    using CoreRecording = QuantaRecording;

    static constexpr const char* name = "ftq";
    static constexpr const char* purpose =
        "Counts the units of work that each core does in quanta of fixed time on an absolute grid. A row takes 8 bytes "
        "of\n"
        "memory; without --records there is room for all quanta, if they fit into a quarter of the free memory.";

    double quantum_us = 100;
    Ticks quantum = 0;  // whole ticks, so that the grid is exact

    std::vector<CommandOption> arguments() {
        return {{"quantum-us", "Q", "the length of a quantum: 1 us to 1 s (100)", number_to(quantum_us, 1, 1e6)}};
    }
    std::size_t row_bytes() const { return sizeof(std::int64_t); }
    double rows_in(double seconds) const {
        const double quanta = std::floor(seconds * 1e6 / quantum_us + 1e-6);  // 0.3 s are 3 quanta of 0.1 s
        if (quanta >= 1) return quanta;
        throw refused("--seconds: expected time for a quantum at least");
    }

    void settle(double tick_ns) {
        quantum = static_cast<Ticks>(std::max(1LL, std::llround(quantum_us * 1000 / tick_ns)));
    }

    CoreRecording prepare(const Bounds& bounds) const {
        const Ticks rehearsal = static_cast<Ticks>(2e7 / bounds.tick_ns);  // thrown away
        QuantaRecording recording;
        recording.unit_ticks = shortest_unit();
        recording.work.resize(1000);
        record_quanta(recording, read_ticks(), rehearsal / recording.work.size());
        recording.work.assign(bounds.records, 0);  // writes every page, so that none is missing later
        return recording;
    }

    void record(CoreRecording& recording, Ticks start, const Bounds& bounds) const {
        record_quanta(recording, start, quantum);
        const auto asked = static_cast<std::size_t>(bounds.likely);
        const bool full = recording.count == recording.work.size();
        recording.dropped = full && asked > recording.count ? asked - recording.count : 0;
        recording.dropped_ticks = recording.dropped * quantum;
    }

    std::vector<std::string> columns() const { return {"work"}; }
    std::vector<std::int64_t> numbers(const CoreRecording& recording, const Rows& rows, double /*tick_ns*/) const {
        return {recording.work.data() + rows.first, recording.work.data() + rows.end};
    }
    json::Object describe(const CoreRecording& recording, double tick_ns) const {
        return json::Object().add("unit_ns", recording.unit_ticks * tick_ns);
    }
    json::Object describe(double tick_ns) const {
        return json::Object()
            .add("quantum_ns", static_cast<double>(quantum) * tick_ns)
            .add("unit", describe_work_unit() + " and a reading of the counter");
    }
};

}  // namespace

int main(int argc, char** argv) {  // NOLINT(misc-const-correctness): the language's signature
    return run_noise_probe<FtqProbe>(argc, argv);
}
