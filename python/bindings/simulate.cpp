#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "collectives/program_run.hpp"
#include "collectives/threaded_program.hpp"
#include "collectives/threaded_program_run.hpp"
#include "columns.hpp"
#include "goal/graph.hpp"
#include "goal/graph_run.hpp"
#include "kernel_run.hpp"
#include "loggops/simulate_partitioned.hpp"
#include "running.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

template <class S>
nb::dict run(const S& source, const machine::Machine& machine, std::uint64_t seed, std::uint32_t threads,
             const nb::object& progress) {
    loggops::NoObserver observer;
    Timed<Time> result = run_timed(source, machine, seed, threads, progress, observer);
    nb::dict answer;
    put_finish(answer, std::move(result.found.finish));
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.seconds;
    answer["share_by_one_thread"] = result.found.share_by_one_thread;
    return answer;
}

/// The same in partitions: on threads, and in several processes. Only the first process has finish times.
template <class S>
nb::dict run_partitioned(const S& source, const machine::Machine& machine, std::uint64_t seed,
                         const pdes::RunConfiguration& given, const nb::object& progress, const Transport* transport) {
    const pdes::RunConfiguration configuration = configured(given, progress, transport);
    loggops::PartitionedSimulation<Time> result;
    {
        const nb::gil_scoped_release released;
        result = loggops::simulate_partitioned(source, machine, seed, configuration);
    }
    nb::dict answer;
    put_finish(answer, std::move(result.found.finish));
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.statistics.init_seconds + result.statistics.seconds;
    answer["run"] = report_of(std::move(result.statistics), result.digest, configuration.transport);
    return answer;
}

template <class S>
void bind(nb::module_& m, const char* text) {
    m.def("simulate", &run<S>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none(), text);
    m.def("simulate_partitioned", &run_partitioned<S>, "schedule"_a, "machine"_a, "seed"_a, "configuration"_a,
          "progress"_a.none(), "transport"_a.none(), text);
}

}  // namespace

void bind_simulate(nb::module_& m) {
    bind<goal::Graph>(m, "Simulate a schedule; the answer has the finish times in the result's own memory.");
    bind<collectives::Composition>(m, "Simulate jobs beside each other.");
    bind<collectives::ProgramSource>(m, "Simulate a traced program.");
    bind<collectives::ThreadedProgramSource>(m, "Simulate a traced program whose ranks have several threads.");
}

}  // namespace idlewave
