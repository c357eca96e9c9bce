#include "loggops/differentiate.hpp"

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

template <class Moment>
nb::dict level_columns(const std::vector<Moment>& finish, unsigned level) {
    const auto slope = [&](auto field) {
        return column_of<std::int64_t>(finish, [=](const Moment& moment) { return moment.level(level).*field; });
    };
    nb::dict columns;
    columns["L"] = slope(&LevelSlopes::L);
    columns["o"] = slope(&LevelSlopes::o);
    columns["o_s"] = slope(&LevelSlopes::o_s);
    columns["o_r"] = slope(&LevelSlopes::o_r);
    columns["g"] = slope(&LevelSlopes::g);
    columns["G"] = slope(&LevelSlopes::G);
    columns["O"] = slope(&LevelSlopes::O);
    return columns;
}

template <class Moment>
nb::dict columns_of(const Simulated<Moment>& found, bool two_levels) {
    const std::vector<Moment>& finish = found.finish;
    nb::dict answer;
    answer["finish"] = column_of<std::int64_t>(finish, [](const Moment& moment) { return time_of(moment); });
    answer["computation"] = column_of<std::int64_t>(finish, [](const Moment& moment) { return moment.computation(); });
    answer["network"] = level_columns(finish, 0);
    answer["node"] = two_levels ? nb::object(level_columns(finish, 1)) : nb::none();
    answer["messages"] = found.messages;
    return answer;
}

template <class S>
nb::dict run(const S& source, const Machine& machine, std::uint64_t seed, std::uint32_t threads,
             const nb::object& progress) {
    return differentiate(machine, [&, begin = Clock::now()](auto& observer) {
        const auto result = run_timed(source, machine, seed, threads, progress, observer, begin);
        nb::dict answer = columns_of(result.found, machine.node.has_value());
        answer["seconds"] = result.seconds;
        return answer;
    });
}

}  // namespace

void bind_differentiate(nb::module_& m) {
    m.def("differentiate", &run<Graph>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none(),
          "Simulate a schedule with the derivatives of every rank's finish time.");
    m.def("differentiate", &run<Composition>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none());
    m.def("differentiate", &run<ProgramSource>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none());
}

}  // namespace idlewave
