#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "base/crc32c.hpp"
#include "bindings.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/composition.hpp"
#include "collectives/pattern.hpp"
#include "collectives/patterns.hpp"
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

void list(const Graph& graph, std::uint32_t rank, RankSchedule& rank_schedule) {
    graph.block(rank).decode(rank_schedule);
}
void list(const Composition& source, std::uint32_t rank, RankSchedule& rank_schedule) {
    rank_schedule = source.rank_schedule(rank);
}
void list(const ProgramSource& source, std::uint32_t rank, RankSchedule& rank_schedule) {
    rank_schedule = source.rank_schedule(rank);
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
void save(const S& source, const std::filesystem::path& path, const std::string& format, const nb::object& progress,
          const std::string& origin) {
    const ScheduleFormat as = format_named(format);
    const auto list_rank = [&source](std::uint32_t rank, RankSchedule& rank_schedule) {
        list(source, rank, rank_schedule);
    };
    const nb::gil_scoped_release released;
    write_schedule(path.string(), as, source.ranks(), list_rank, RankPoll(progress), origin);
}

template <class S>
std::string to_goal(const S& source) {
    return goal_text(source.ranks(),
                     [&source](std::uint32_t rank, RankSchedule& rank_schedule) { list(source, rank, rank_schedule); });
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
        .def("save", &save<S>, "path"_a, "format"_a, "progress"_a.none(), "origin"_a,
             "Write the schedule: goal, loggopsim or idg. `progress` is called with ranks done and all; `origin` is a "
             "line for GOAL's comment, empty: none.");
}

template <std::size_t n, class T>
std::array<T, n> array_of(const std::vector<T>& values) {
    std::array<T, n> array{};
    std::copy_n(values.begin(), std::min(n, values.size()), array.begin());
    return array;
}

Stage make_stage(const std::string& name, const std::string& algorithm, std::uint32_t ranks, std::uint64_t bytes,
                 double reduction_cost, std::uint32_t root, std::uint64_t segment, std::uint32_t ways,
                 const std::vector<std::uint64_t>& send_counts, const std::vector<std::uint64_t>& recv_counts,
                 const std::vector<std::uint32_t>& dims, const std::vector<std::uint64_t>& face_bytes, bool periodic,
                 std::uint64_t compute_ns, std::uint32_t blocks, std::uint32_t sweeps) {
    const GridShape shape{.dims = array_of<3>(dims),
                          .face_bytes = array_of<3>(face_bytes),
                          .compute_ns = compute_ns,
                          .blocks = blocks,
                          .sweeps = sweeps,
                          .periodic = periodic};
    return stage_of(name, algorithm, ranks,
                    {.bytes = bytes,
                     .reduction_cost = reduction_cost,
                     .root = root,
                     .segment = segment,
                     .ways = ways,
                     .send_counts = send_counts,
                     .recv_counts = recv_counts,
                     .shape = shape});
}

/// A stage as part of a job: how often, by whom.
void set_stage(Stage& stage, std::uint32_t times, bool rotating_root, const std::string& group, std::uint32_t size,
               std::uint32_t tag) {
    stage.times = times;
    stage.rotating_root = rotating_root;
    stage.group = {group == "blocks"    ? Group::Kind::blocks
                   : group == "strided" ? Group::Kind::strided
                                        : Group::Kind::all,
                   size};
    stage.tag = tag;
}

void bind_composition(nb::module_& m) {
    nb::class_<Composition> composition(m, "Composition", "Operations of jobs, whose ops are made on demand.");
    bind_source(composition);
    nb::class_<Stage>(m, "Stage", "Something that all ranks of a job do.")
        .def(nb::new_(&make_stage), "name"_a, "algorithm"_a, "ranks"_a, "bytes"_a, "reduction_cost"_a, "root"_a,
             "segment"_a, "ways"_a, "send_counts"_a, "recv_counts"_a, "dims"_a, "face_bytes"_a, "periodic"_a,
             "compute_ns"_a, "blocks"_a, "sweeps"_a, "`ranks` are those that take part together.")
        .def("set", &set_stage, "times"_a, "rotating_root"_a, "group"_a, "group_size"_a, "tag"_a,
             "How often it is done, and by which groups: all, blocks, strided.");
    nb::class_<Job>(m, "Job", "Ranks that do the same stages, one after the other.")
        .def(nb::new_([](std::uint32_t ranks, const std::vector<Stage>& stages, std::uint32_t repetitions,
                         std::uint32_t first, std::uint32_t stride, const std::vector<std::uint32_t>& table) {
                 Job job{.ranks = ranks, .placement = {.first = first, .stride = stride, .table = table}};
                 job.stages = stages;
                 job.repetitions = repetitions;
                 return job;
             }),
             "ranks"_a, "stages"_a, "repetitions"_a, "first"_a, "stride"_a, "table"_a,
             "Rank i is the machine's rank first + i * stride, or table[i].");
    m.def(
        "compose", [](const std::vector<Job>& jobs, std::uint32_t ranks) { return Composition(jobs, ranks); }, "jobs"_a,
        "ranks"_a, "Jobs beside each other on a machine of `ranks` ranks, 0: as many as they need.");
    m.def(
        "patterns",
        [] {
            std::vector<std::tuple<std::string, std::string, std::string>> rows;
            for (const Pattern& p : patterns()) {
                rows.emplace_back(p.name, p.sentence, p.source);
            }
            return rows;
        },
        "All patterns that are no collectives: (name, what it does, what it follows).");
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
        [](const std::filesystem::path& path, const nb::object& progress) {
            const nb::gil_scoped_release released;
            return read_schedule(path.string(), RankPoll(progress));
        },
        "path"_a, "progress"_a.none(),
        "Read a schedule of any format, told by its content. `progress` is called with ranks done and all.");
    m.def(
        "convert_schedule",
        [](const std::filesystem::path& source, const std::filesystem::path& target, const std::string& format,
           const nb::object& progress, const std::string& origin) {
            const ScheduleFormat as = format_named(format);
            const nb::gil_scoped_release released;
            convert_schedule(source.string(), target.string(), as, RankPoll(progress), origin);
        },
        "source"_a, "target"_a, "format"_a, "progress"_a.none(), "origin"_a,
        "Write a schedule's file in another format, rank by rank: goal, loggopsim or idg. `origin` as in `save`.");
    m.def(
        "crc32c",
        [](const nb::bytes& bytes, std::uint32_t before) {
            return crc32c({static_cast<const std::byte*>(bytes.data()), bytes.size()}, before);
        },
        "bytes"_a, "before"_a, "The CRC-32C of bytes that follow others with the CRC `before`, 0: none.");

    nb::class_<ProgramSource> program(m, "Program", "Ranks' programs, whose ops are made on demand.");
    bind_source(program);
    program.def(
        "copies", [](const ProgramSource& s, std::uint32_t copies) { return ProgramSource(s.program(), copies); },
        "copies"_a, "The same program, extrapolated to `copies` of its traced ranks.");
    program.def_prop_ro(
        "base_ranks", [](const ProgramSource& s) { return s.program()->ranks.size(); }, "How many ranks were traced.");
    program.def_prop_ro("least_ops", &ProgramSource::least_ops, nb::call_guard<nb::gil_scoped_release>(),
                        "How many ops all ranks have at least.");
    m.def(
        "convert",
        [](const Trace& trace, const std::map<std::string, std::string>& algorithms, double reduction_cost) {
            return ProgramSource(
                std::make_shared<const Program>(convert(trace, options_from(algorithms, reduction_cost))), 1);
        },
        "trace"_a, "algorithms"_a, "reduction_cost"_a, nb::call_guard<nb::gil_scoped_release>(),
        "The program that a trace is a run of.");

    bind_composition(m);
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
