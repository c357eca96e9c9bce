// idlewave-detour: records the detours of each core (detour_loop.hpp defines a detour). With --counts it also records
// what the kernel counted across each detour.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/ticks.hpp"
#include "noise/detour_calibration.hpp"
#include "noise/detour_loop.hpp"
#include "noise/session.hpp"

namespace {

using namespace idlewave::probe;

template <class Row>
std::vector<std::int64_t> numbers_of(const DetourRecording<Row>& recording, const Rows& rows, double tick_ns) {
    std::vector<std::int64_t> numbers;
    for (std::size_t i = rows.first; i < rows.end; ++i) {
        const Row& row = recording.rows[i];
        numbers.push_back(picoseconds(row.begin - recording.begin, tick_ns));
        numbers.push_back(picoseconds(row.length - recording.resolution.shortest, tick_ns));
        if constexpr (DetourRecording<Row>::counted) {
            numbers.insert(numbers.end(), {row.counts.switches, row.counts.migrations, row.counts.faults});
        }
    }
    return numbers;
}

template <class Row>
json::Object describe_core(const DetourRecording<Row>& recording, double tick_ns) {
    const Resolution& resolution = recording.resolution;
    json::Object result;
    result.add("resolution_ns", resolution.iteration * tick_ns).add("counter_cost_ns", resolution.read * tick_ns);
    result.add("threshold_ns", static_cast<double>(resolution.threshold()) * tick_ns);
    result.add("shortest_seen_ns", static_cast<double>(recording.shortest_seen) * tick_ns);
    if constexpr (DetourRecording<Row>::counted) {
        const Counting& counting = recording.counting;
        json::Object counts;
        counts.add("source", counting.source.by_events() ? "perf_event_open" : "getrusage");
        counts.add("why", counting.source.why_not());
        counts.add("reading_ns", static_cast<double>(resolution.counting) * tick_ns);
        counts.add("blind_ns", static_cast<double>(counting.blind) * tick_ns);
        result.add("counts", counts);
    }
    return result;
}

struct DetourProbe {
    using Plain = DetourRecording<TimedDetour>;
    using CountedRecording = DetourRecording<CountedDetour>;

    struct CoreRecording : Recorded {
        std::variant<Plain, CountedRecording> kept;
    };

    static constexpr const char* name = "detour";
    static constexpr const char* purpose =
        "Records what takes the CPU away from a loop that does nothing but read the time counter: the start and the\n"
        "length of every detour, for each core. A row takes 16 bytes of memory, with --counts 40; without --records\n"
        "there is room for a million a core, or for as many as fit into a quarter of the free memory.";

    bool counts = false;

    std::vector<CommandOption> arguments() {
        return {
            {"counts", "", "count context switches, migrations and page faults across each detour", flag_to(counts)}};
    }
    std::size_t row_bytes() const { return counts ? sizeof(CountedDetour) : sizeof(TimedDetour); }
    double rows_in(double /*seconds*/) const { return 0; }
    void settle(double /*tick_ns*/) const {}

    CoreRecording prepare(const Bounds& bounds) const {
        if (counts) return {{}, prepare_detours<CountedDetour>(bounds)};
        return {{}, prepare_detours<TimedDetour>(bounds)};
    }

    void record(CoreRecording& recording, Ticks start, const Bounds& bounds) const {
        std::visit(
            [&](auto& kept) {
                record_within(kept, start, bounds);
                static_cast<Recorded&>(recording) = static_cast<const Recorded&>(kept);
            },
            recording.kept);
    }

    std::vector<std::string> columns() const {
        if (counts) return {"start_ps", "length_ps", "switches", "migrations", "faults"};
        return {"start_ps", "length_ps"};
    }
    std::vector<std::int64_t> numbers(const CoreRecording& recording, const Rows& rows, double tick_ns) const {
        return std::visit([&](const auto& kept) { return numbers_of(kept, rows, tick_ns); }, recording.kept);
    }
    json::Object describe(const CoreRecording& recording, double tick_ns) const {
        return std::visit([&](const auto& kept) { return describe_core(kept, tick_ns); }, recording.kept);
    }
    json::Object describe(double /*tick_ns*/) const { return json::Object().add("counts", counts); }
};

}  // namespace

int main(int argc, char** argv) {  // NOLINT(misc-const-correctness): the language's signature
    return run_noise_probe<DetourProbe>(argc, argv);
}
