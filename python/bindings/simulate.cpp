#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>

#include "bindings.hpp"
#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "columns.hpp"
#include "goal/graph.hpp"
#include "running.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

template <class S>
nb::dict run(const S& source, const Machine& machine, std::uint64_t seed, std::uint32_t threads,
             const nb::object& progress) {
    Unobserved observer;
    Timed<Time> result = run_timed(source, machine, seed, threads, progress, observer);
    nb::dict answer;
    put_finish(answer, std::move(result.found.finish));
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.seconds;
    return answer;
}

}  // namespace

void bind_simulate(nb::module_& m) {
    m.def("simulate", &run<Graph>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none(),
          "Simulate a schedule; the answer has the finish times in the result's own memory.");
    m.def("simulate", &run<Composition>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none());
    m.def("simulate", &run<ProgramSource>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none());
}

}  // namespace idlewave
