#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/pattern.hpp"
#include "collectives/program.hpp"
#include "goal/goal_reader.hpp"
#include "goal/goal_writer.hpp"
#include "goal/graph.hpp"
#include "goal/schedule_file.hpp"
#include "rank_poll.hpp"
#include "trace/convert.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

void list(const Graph& graph, std::uint32_t rank, Listing& listing) {
    graph.block(rank).list_into(listing);
}
void list(const ProgramSource& source, std::uint32_t rank, Listing& listing) {
    listing = source.listing(rank);
}

ScheduleFormat format_named(const std::string& name) {
    for (const auto& [known, format] : {std::pair{"goal", ScheduleFormat::goal},
                                        {"loggopsim", ScheduleFormat::loggopsim},
                                        {"idg", ScheduleFormat::idg}}) {
        if (name == known) {
            return format;
        }
    }
    throw LogicError("a schedule's format is goal, loggopsim or idg, not " + name);
}

template <class S>
void save(const S& source, const std::string& path, const std::string& format, const nb::object& progress) {
    const ScheduleFormat as = format_named(format);
    const auto list_rank = [&source](std::uint32_t rank, Listing& listing) { list(source, rank, listing); };
    const nb::gil_scoped_release released;
    write_schedule(path, as, source.ranks(), list_rank, RankPoll(progress));
}

template <class S>
std::string to_goal(const S& source) {
    return goal_text(source.ranks(), [&source](std::uint32_t rank, Listing& listing) { list(source, rank, listing); });
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
        .def("save", &save<S>, "path"_a, "format"_a, "progress"_a.none(),
             "Write the schedule: goal, loggopsim or idg. `progress` is called with ranks done and all.");
}

}  // namespace

void bind_schedule(nb::module_& m) {
    nb::class_<Graph> graph(m, "Graph", "A schedule in memory.");
    bind_source(graph);
    graph.def_prop_ro("ops", &Graph::op_count, "How many ops it has.");
    graph.def_prop_ro("memory", &Graph::memory, "How many bytes its ops, dependencies and labels take.");
    m.def(
        "read_goal", [](std::string_view text, const std::string& name) { return read_goal(text, name); }, "text"_a,
        "name"_a, nb::call_guard<nb::gil_scoped_release>(), "Read GOAL text; `name` is what messages call it.");

    m.def(
        "read_schedule",
        [](const std::string& path, const nb::object& progress) {
            const nb::gil_scoped_release released;
            return read_schedule(path, RankPoll(progress));
        },
        "path"_a, "progress"_a.none(),
        "Read a schedule of any format, told by its content. `progress` is called with ranks done and all.");
    m.def(
        "convert_schedule",
        [](const std::string& source, const std::string& target, const std::string& format,
           const nb::object& progress) {
            const ScheduleFormat as = format_named(format);
            const nb::gil_scoped_release released;
            convert_schedule(source, target, as, RankPoll(progress));
        },
        "source"_a, "target"_a, "format"_a, "progress"_a.none(),
        "Write a schedule's file in another format, rank by rank: goal, loggopsim or idg.");

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
