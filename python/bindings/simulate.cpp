#include "loggops/simulate.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>

#include <chrono>

#include "bindings.hpp"
#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "columns.hpp"
#include "goal/graph.hpp"
#include "poll.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

nb::dict to_python(SimulationResult result, double seconds) {
    nb::dict answer;
    answer["finish"] = column(std::move(result.finish));
    answer["messages"] = result.messages;
    answer["seconds"] = seconds;
    const auto& rows = result.records;
    nb::dict ops;
    ops["rank"] = column_of<std::uint32_t>(rows, [](const OpRecord& r) { return r.rank; });
    ops["op"] = column_of<std::uint32_t>(rows, [](const OpRecord& r) { return r.place; });
    ops["kind"] = column_of<std::uint8_t>(rows, [](const OpRecord& r) { return r.kind; });
    ops["peer"] = column_of<std::int64_t>(rows, [](const OpRecord& r) {
        return r.kind == OpKind::calc || r.peer == any ? std::int64_t{-1} : std::int64_t{r.peer};
    });
    ops["tag"] = column_of<std::int64_t>(
        rows, [](const OpRecord& r) { return r.tag == any ? std::int64_t{-1} : std::int64_t{r.tag}; });
    ops["size"] = column_of<std::uint64_t>(rows, [](const OpRecord& r) { return r.size; });
    ops["ready_ps"] = column_of<std::int64_t>(rows, [](const OpRecord& r) { return r.ready; });
    ops["start_ps"] = column_of<std::int64_t>(rows, [](const OpRecord& r) { return r.start; });
    ops["end_ps"] = column_of<std::int64_t>(rows, [](const OpRecord& r) { return r.end; });
    answer["ops"] = ops;
    return answer;
}

template <class S>
nb::dict run(const S& source, const Machine& machine, std::uint64_t seed, bool record, std::uint32_t threads,
             const nb::object& progress) {
    const SimulationOptions options{.seed = seed, .record = record, .threads = threads, .poll = Poll(progress)};
    SimulationResult result;
    double seconds = 0;
    {
        const nb::gil_scoped_release released;
        const auto begin = std::chrono::steady_clock::now();
        result = simulate(source, machine, options);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    return to_python(std::move(result), seconds);
}

}  // namespace

void bind_simulate(nb::module_& m) {
    m.def("simulate", &run<Graph>, "schedule"_a, "machine"_a, "seed"_a, "record"_a, "threads"_a, "progress"_a.none(),
          "Simulate a schedule; the answer's columns are numpy arrays over the result's own memory.");
    m.def("simulate", &run<Composition>, "schedule"_a, "machine"_a, "seed"_a, "record"_a, "threads"_a,
          "progress"_a.none());
    m.def("simulate", &run<ProgramSource>, "schedule"_a, "machine"_a, "seed"_a, "record"_a, "threads"_a,
          "progress"_a.none());
}

}  // namespace idlewave
