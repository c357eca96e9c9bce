#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fstream>
#include <sstream>

#include "bindings.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/composition.hpp"
#include "collectives/pattern.hpp"
#include "collectives/program.hpp"
#include "goal/goal_reader.hpp"
#include "goal/goal_writer.hpp"
#include "goal/graph.hpp"
#include "trace/convert.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

Listing listing_of(const Graph& graph, std::uint32_t rank) {
    return listing(graph, rank);
}
Listing listing_of(const Composition& source, std::uint32_t rank) {
    return source.listing(rank);
}
Listing listing_of(const ProgramSource& source, std::uint32_t rank) {
    return source.listing(rank);
}

template <class S>
void save(const S& source, const std::string& path) {
    std::ofstream out(path);
    if (out) {
        write_goal(out, source.ranks(), [&source](std::uint32_t rank) { return listing_of(source, rank); });
        out.close();
    }
    if (!out) {
        throw InputError(path + ": cannot be written");
    }
}

template <class S>
std::string to_goal(const S& source) {
    std::ostringstream out;
    write_goal(out, source.ranks(), [&source](std::uint32_t rank) { return listing_of(source, rank); });
    return out.str();
}

ConvertOptions options_from(const std::map<std::string, std::string>& names, double reduction_cost) {
    ConvertOptions options{.algorithms = {}, .reduction_cost = reduction_cost};
    for (const auto& [operation, name] : names) {
        const Collective which = collective(operation);
        options.algorithms[which] = algorithm(which, name).name;
    }
    return options;
}

template <class S>
void bind_source(nb::class_<S>& source) {
    source.def_prop_ro("ranks", [](const S& s) { return s.ranks(); })
        .def("to_goal", &to_goal<S>, nb::call_guard<nb::gil_scoped_release>(), "The schedule as GOAL text.")
        .def("save", &save<S>, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Write the schedule as GOAL text.");
}

}  // namespace

void bind_schedule(nb::module_& m) {
    nb::class_<Graph> graph(m, "Graph", "A schedule in memory.");
    bind_source(graph);
    m.def(
        "read_goal", [](std::string_view text, const std::string& name) { return read_goal(text, name); }, "text"_a,
        "name"_a, nb::call_guard<nb::gil_scoped_release>(), "Read GOAL text; `name` is what messages call it.");

    nb::class_<ProgramSource> program(m, "Program", "Ranks' programs, whose ops are made on demand.");
    bind_source(program);
    program.def(
        "copies", [](const ProgramSource& s, std::uint32_t copies) { return ProgramSource(s.program(), copies); },
        "copies"_a, "The same program, extrapolated to `copies` of its traced ranks.");
    program.def_prop_ro(
        "base_ranks", [](const ProgramSource& s) { return s.program()->ranks.size(); }, "How many ranks were traced.");
    m.def(
        "convert",
        [](const Trace& trace, const std::map<std::string, std::string>& algorithms, double reduction_cost) {
            return ProgramSource(
                std::make_shared<const Program>(convert(trace, options_from(algorithms, reduction_cost))), 1);
        },
        "trace"_a, "algorithms"_a, "reduction_cost"_a, nb::call_guard<nb::gil_scoped_release>(),
        "The program that a trace is a run of.");

    nb::class_<Composition> pattern_class(m, "Composition", "Operations of jobs, whose ops are made on demand.");
    bind_source(pattern_class);
    m.def(
        "pattern",
        [](const std::string& operation, const std::string& name, std::uint32_t ranks, std::uint64_t bytes,
           double reduction_cost) {
            return pattern(algorithm(collective(operation), name), ranks, bytes, reduction_cost);
        },
        "collective"_a, "algorithm"_a, "ranks"_a, "bytes"_a, "reduction_cost"_a, "One collective operation.");
    m.def(
        "algorithms",
        [] {
            std::vector<std::tuple<std::string, std::string, std::string>> rows;
            for (const Algorithm& a : algorithms()) {
                rows.emplace_back(name_of(a.collective), a.name, a.source);
            }
            return rows;
        },
        "All algorithms: (collective, name, the paper or MPI that it follows); the first of each is the default.");
}

}  // namespace idlewave
