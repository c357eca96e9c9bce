#include <nanobind/nanobind.h>

#include <chrono>

#include "bindings.hpp"
#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "collectives/threaded_program.hpp"
#include "columns.hpp"
#include "goal/graph.hpp"
#include "loggopsim/simulate.hpp"
#include "loggopsim/write_out.hpp"
#include "poll.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

loggopsim::Result simulate_source(const goal::Graph& schedule, const machine::Machine& machine,
                                  const std::function<void(Time)>& poll) {
    return loggopsim::simulate(schedule, machine, poll);
}

template <class S>
loggopsim::Result simulate_source(const S& source, const machine::Machine& machine,
                                  const std::function<void(Time)>& poll) {
    const goal::Graph schedule =
        loggopsim::write_out(source.ranks(), [&source](std::uint32_t rank) { return source.rank_schedule(rank); });
    return loggopsim::simulate(schedule, machine, poll);
}

template <class S>
nb::dict run(const S& source, const machine::Machine& machine, const nb::object& progress) {
    const std::function<void(Time)> poll = Poll(progress);
    loggopsim::Result result;
    double seconds = 0;
    {
        const nb::gil_scoped_release released;
        const auto begin = std::chrono::steady_clock::now();
        result = simulate_source(source, machine, poll);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    nb::dict answer;
    put_finish(answer, std::move(result.finish));
    answer["messages"] = result.messages;
    answer["seconds"] = seconds;
    return answer;
}

}  // namespace

void bind_loggopsim(nb::module_& m) {
    m.def("simulate_loggopsim", &run<goal::Graph>, "schedule"_a, "machine"_a, "progress"_a.none(),
          "Simulate a schedule by LogGOPSim's rules; a program is written out in memory first.");
    m.def("simulate_loggopsim", &run<collectives::Composition>, "schedule"_a, "machine"_a, "progress"_a.none());
    m.def("simulate_loggopsim", &run<collectives::ProgramSource>, "schedule"_a, "machine"_a, "progress"_a.none());
    m.def("simulate_loggopsim", &run<collectives::ThreadedProgramSource>, "schedule"_a, "machine"_a,
          "progress"_a.none());
}

}  // namespace idlewave
