#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "columns.hpp"
#include "goal/graph.hpp"
#include "kernel_run.hpp"
#include "loggops/simulate_partitioned.hpp"
#include "running.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

template <class S>
nb::dict run(const S& source, const Machine& machine, std::uint64_t seed, std::uint32_t threads,
             const nb::object& progress) {
    NoObserver observer;
    Timed<Time> result = run_timed(source, machine, seed, threads, progress, observer);
    nb::dict answer;
    put_finish(answer, std::move(result.found.finish));
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.seconds;
    return answer;
}

/// The same in partitions: on threads, and in several processes. Only the first of these has finish times.
template <class S>
nb::dict run_in_legs(const S& source, const Machine& machine, std::uint64_t seed, const nb::dict& manner,
                     const nb::object& progress, const Wire* wire) {
    const auto scheduler = get<std::string>(manner, "scheduler");
    const PartitionedOptions options{
        .seed = seed,
        .advance = scheduler == "timewarp" ? pdes::Advance::optimistic : pdes::Advance::conservative,
        .check = scheduler == "check",
        .cyclic = get<std::string>(manner, "placement") == "cyclic",
        .lazy = get<bool>(manner, "lazy"),
        .crew = crew_of(manner, progress, wire)};
    PartitionedResult result;
    {
        const nb::gil_scoped_release released;
        result = simulate_partitioned(source, machine, options);
    }
    nb::dict answer;
    put_finish(answer, std::move(result.found.finish));
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.counted.init_seconds + result.counted.seconds;
    answer["run"] = counts_of(result.counted, result.digest, options.crew.wire);
    return answer;
}

template <class S>
void bind(nb::module_& m, const char* text) {
    m.def("simulate", &run<S>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none(), text);
    m.def("simulate_in_legs", &run_in_legs<S>, "schedule"_a, "machine"_a, "seed"_a, "manner"_a, "progress"_a.none(),
          "wire"_a.none(), text);
}

}  // namespace

void bind_simulate(nb::module_& m) {
    bind<Graph>(m, "Simulate a schedule; the answer has the finish times in the result's own memory.");
    bind<Composition>(m, "Simulate jobs beside each other.");
    bind<ProgramSource>(m, "Simulate a traced program.");
}

}  // namespace idlewave
