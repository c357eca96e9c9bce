#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <variant>

#include "base/crc32c.hpp"
#include "bindings.hpp"
#include "collectives/algorithm_rules.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/collective_uses.hpp"
#include "collectives/composition.hpp"
#include "collectives/pattern.hpp"
#include "collectives/patterns.hpp"
#include "collectives/program.hpp"
#include "collectives/threaded_program.hpp"
#include "goal/goal_reader.hpp"
#include "goal/goal_writer.hpp"
#include "goal/graph.hpp"
#include "goal/schedule_file.hpp"
#include "rank_poll.hpp"
#include "trace/cold_caches.hpp"
#include "trace/convert.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

void list(const goal::Graph& graph, std::uint32_t rank, goal::RankSchedule& rank_schedule) {
    graph.block(rank).decode(rank_schedule);
}
void list(const collectives::Composition& source, std::uint32_t rank, goal::RankSchedule& rank_schedule) {
    rank_schedule = source.rank_schedule(rank);
}
void list(const collectives::ProgramSource& source, std::uint32_t rank, goal::RankSchedule& rank_schedule) {
    rank_schedule = source.rank_schedule(rank);
}

void list(const collectives::ThreadedProgramSource& source, std::uint32_t rank, goal::RankSchedule& rank_schedule) {
    rank_schedule = source.rank_schedule(rank);
}

template <class S>
void save(const S& source, const std::filesystem::path& path, goal::ScheduleFormat format, const nb::object& progress,
          const std::string& origin) {
    const auto list_rank = [&source](std::uint32_t rank, goal::RankSchedule& rank_schedule) {
        list(source, rank, rank_schedule);
    };
    const nb::gil_scoped_release released;
    goal::write_schedule(path.string(), format, source.ranks(), list_rank, RankPoll(progress), origin);
}

template <class S>
std::string to_goal(const S& source) {
    return goal::goal_text(source.ranks(), [&source](std::uint32_t rank, goal::RankSchedule& rank_schedule) {
        list(source, rank, rank_schedule);
    });
}

std::tuple<std::uint64_t, std::uint64_t, double> in_all_copies(std::uint64_t copies,
                                                               const collectives::TimedCalls& timed) {
    return {timed.calls * copies, timed.bytes * copies, timed.ns * static_cast<double>(copies)};
}

/// The program of a trace, some of whose ranks may have several threads.
using TracedProgram = std::variant<collectives::ProgramSource, collectives::ThreadedProgramSource>;

TracedProgram traced_program(collectives::Program program) {
    const auto shared = std::make_shared<const collectives::Program>(std::move(program));
    if (shared->first_threads.empty()) {
        return collectives::ProgramSource(shared, 1);
    }
    return collectives::ThreadedProgramSource(shared, 1);
}

/// A point of a run: its kind and its value.
using Point = std::pair<trace::TracePoint::Kind, std::uint64_t>;

trace::ConvertOptions options_from(const std::map<std::string, std::string>& names, double reduction_cost,
                                   const collectives::AlgorithmRules& rules, const trace::ColdCaches& cold_caches,
                                   bool resolve_wildcards, bool wall_gaps, bool cut, const Point& from, const Point& to,
                                   trace::ComputationOptions computation) {
    trace::ConvertOptions options{.algorithms = {},
                                  .reduction_cost = reduction_cost,
                                  .rules = rules,
                                  .cold_caches = cold_caches,
                                  .resolve_wildcards = resolve_wildcards,
                                  .wall_gaps = wall_gaps,
                                  .computation = std::move(computation),
                                  .cut = cut,
                                  .from = {from.first, from.second},
                                  .to = {to.first, to.second}};
    for (const auto& [operation, name] : names) {
        const collectives::Collective which = collectives::collective(operation);
        options.algorithms[which] = collectives::algorithm(which, name).name;
    }
    return options;
}

trace::ColdCaches cold_caches_from(const std::vector<std::pair<std::int64_t, Time>>& calls, std::int64_t buffer_after,
                                   const std::vector<std::pair<std::uint64_t, Time>>& buffers) {
    trace::ColdCaches costs{.calls = {}, .buffer_after = buffer_after, .buffers = {}};
    for (const auto& [after, time] : calls) {
        costs.calls.push_back({after, time});
    }
    for (const auto& [size, time] : buffers) {
        costs.buffers.push_back({size, time});
    }
    return costs;
}

template <class S>
void bind_source(nb::class_<S>& source) {
    source.def_prop_ro("ranks", [](const S& s) { return s.ranks(); })
        .def("to_goal", &to_goal<S>, nb::call_guard<nb::gil_scoped_release>(), "The schedule as GOAL text.")
        .def("save", &save<S>, "path"_a, "format"_a, "progress"_a.none(), "origin"_a,
             "Write the schedule: goal, loggopsim or idg. `progress` is called with ranks done and all; `origin` is a "
             "line for GOAL's comment, empty: none.");
}

/// What the program of a trace has besides.
template <class S>
void bind_program(nb::class_<S>& program) {
    bind_source(program);
    program.def(
        "copies", [](const S& s, std::uint32_t copies) { return S(s.program(), copies); }, "copies"_a,
        "The same program, extrapolated to `copies` of its traced ranks.");
    program.def_prop_ro(
        "base_ranks", [](const S& s) { return s.ranks() / s.copies(); },
        "How many ranks the program has without copies.");
    program.def_prop_ro("wildcard_receives", &S::wildcard_receives,
                        "How many receives of the traced run named no source, in all copies.");
    program.def_prop_ro(
        "unknown_receives", &S::unknown_receives,
        "How many receives without a source there are whose message the trace does not have, in all copies.");
    program.def_prop_ro(
        "one_sided", [](const S& s) { return in_all_copies(s.copies(), s.program()->one_sided); },
        "Puts, gets and accumulates of the traced run: their number, bytes, and ns of all ranks, in all copies.");
    program.def_prop_ro(
        "files", [](const S& s) { return in_all_copies(s.copies(), s.program()->files); },
        "The same of calls of files.");
    program.def_prop_ro(
        "cut",
        [](const S& s) { return std::pair(s.program()->calls - s.program()->calls_left_out, s.program()->calls); },
        "How many calls of the traced ranks the program has, and how many were recorded.");
    program.def(
        "collective_uses",
        [](const S& s) {
            std::vector<std::tuple<std::string_view, std::string_view, std::uint64_t>> rows;
            for (const collectives::CollectiveUse& use : collectives::collective_uses(*s.program(), s.copies())) {
                rows.emplace_back(collectives::name_of(use.collective), use.algorithm, use.calls);
            }
            return rows;
        },
        "How many collectives follow which algorithm: collective, algorithm, calls.");
    program.def_prop_ro("least_ops", &S::least_ops, nb::call_guard<nb::gil_scoped_release>(),
                        "How many ops all ranks have at least.");
}

/// A rule: collective, ranks, bytes, algorithm (empty: left to the fallback), segment, reduction_cost, call_ns,
/// call_ns_per_byte, of_all_ranks, fallback.
using RuleRow = std::tuple<std::string, std::uint32_t, std::uint64_t, std::string, std::uint64_t, double, double,
                           double, bool, bool>;

collectives::AlgorithmRules rules_from(const std::vector<RuleRow>& rows) {
    std::vector<collectives::AlgorithmRule> rules;
    for (const auto& [name, ranks, bytes, algorithm, segment, reduction_cost, call_ns, call_ns_per_byte, of_all_ranks,
                      fallback] : rows) {
        const collectives::Collective which = collectives::collective(name);
        rules.push_back({which, ranks, bytes, algorithm.empty() ? nullptr : &collectives::algorithm(which, algorithm),
                         segment, reduction_cost, call_ns, call_ns_per_byte, of_all_ranks, fallback});
    }
    return collectives::AlgorithmRules(rules);
}

void bind_stage(nb::module_& m) {
    nb::class_<collectives::AlgorithmRules>(m, "AlgorithmRules", "Which algorithms an MPI library uses, by size.")
        .def(nb::new_(&rules_from), "rows"_a,
             "Rows of collective, ranks, bytes, algorithm, segment, reduction_cost, call_ns, call_ns_per_byte, "
             "of_all_ranks, fallback.")
        .def(
            "algorithm",
            [](const collectives::AlgorithmRules& rules, const std::string& name, std::uint32_t ranks,
               std::uint64_t bytes) {
                const auto* rule = rules.find(collectives::collective(name), ranks, bytes);
                return rule == nullptr ? std::optional<std::string>() : std::string(rule->algorithm->name);
            },
            "collective"_a, "ranks"_a, "bytes"_a, "The algorithm of the rule for this size, if there is one.");
    nb::enum_<collectives::Group::Kind>(m, "GroupKind", "Which ranks of a job take part together.")
        .value("all", collectives::Group::Kind::all)
        .value("blocks", collectives::Group::Kind::blocks)
        .value("strided", collectives::Group::Kind::strided);
    nb::class_<collectives::GridShape>(m, "GridShape", "The process grid of a halo exchange or a sweep.")
        .def(nb::init<>())
        .def_rw("dims", &collectives::GridShape::dims)
        .def_rw("face_bytes", &collectives::GridShape::face_bytes)
        .def_rw("compute_ns", &collectives::GridShape::compute_ns)
        .def_rw("blocks", &collectives::GridShape::blocks)
        .def_rw("sweeps", &collectives::GridShape::sweeps)
        .def_rw("periodic", &collectives::GridShape::periodic);
    nb::class_<collectives::PatternCall>(m, "PatternCall", "The arguments of an operation of a pattern.")
        .def(nb::init<>())
        .def_rw("bytes", &collectives::PatternCall::bytes)
        .def_rw("reduction_cost", &collectives::PatternCall::reduction_cost)
        .def_rw("root", &collectives::PatternCall::root)
        .def_rw("segment", &collectives::PatternCall::segment)
        .def_rw("ways", &collectives::PatternCall::ways)
        .def_rw("send_counts", &collectives::PatternCall::send_counts)
        .def_rw("recv_counts", &collectives::PatternCall::recv_counts)
        .def_rw("shape", &collectives::PatternCall::shape);
    nb::class_<collectives::Stage>(m, "Stage", "An operation of all ranks of a job.")
        .def(nb::new_([](const std::string& name, const std::string& algorithm, std::uint32_t ranks,
                         const collectives::PatternCall& call, const collectives::AlgorithmRules& rules) {
                 return collectives::stage_of(name, algorithm, ranks, call, rules);
             }),
             "name"_a, "algorithm"_a, "ranks"_a, "call"_a, "rules"_a,
             "`ranks` is the number of ranks that take part together.")
        .def(
            "set",
            [](collectives::Stage& stage, std::uint32_t times, bool rotating_root, collectives::Group::Kind group,
               std::uint32_t size, std::uint32_t tag) {
                stage.times = times;
                stage.rotating_root = rotating_root;
                stage.group = {group, size};
                stage.tag = tag;
            },
            "times"_a, "rotating_root"_a, "group"_a, "group_size"_a, "tag"_a,
            "How often the operation is executed, and by which groups.");
}

void bind_composition(nb::module_& m) {
    nb::class_<collectives::Composition> composition(m, "Composition",
                                                     "Operations of jobs, whose ops are made on demand.");
    bind_source(composition);
    bind_stage(m);
    nb::class_<collectives::Job>(m, "Job", "Ranks that do the same stages, one after the other.")
        .def(nb::new_([](std::uint32_t ranks, const std::vector<collectives::Stage>& stages, std::uint32_t repetitions,
                         std::uint32_t first, std::uint32_t stride, const std::vector<std::uint32_t>& table) {
                 collectives::Job job{.ranks = ranks, .placement = {.first = first, .stride = stride, .table = table}};
                 job.stages = stages;
                 job.repetitions = repetitions;
                 return job;
             }),
             "ranks"_a, "stages"_a, "repetitions"_a, "first"_a, "stride"_a, "table"_a,
             "Rank i is the machine's rank first + i * stride, or table[i].");
    m.def(
        "compose",
        [](const std::vector<collectives::Job>& jobs, std::uint32_t ranks) {
            return collectives::Composition(jobs, ranks);
        },
        "jobs"_a, "ranks"_a, "Jobs beside each other on a machine of `ranks` ranks, 0: as many as they need.");
    m.def(
        "patterns",
        [] {
            std::vector<std::tuple<std::string, std::string, std::string>> rows;
            for (const collectives::Pattern& p : collectives::patterns()) {
                rows.emplace_back(p.name, p.sentence, p.source);
            }
            return rows;
        },
        "All patterns that are no collectives: (name, what it does, what it follows).");
}

}  // namespace

void bind_schedule(nb::module_& m) {
    nb::enum_<goal::ScheduleFormat>(m, "ScheduleFormat", "The format of a schedule's file.")
        .value("goal", goal::ScheduleFormat::goal)
        .value("loggopsim", goal::ScheduleFormat::loggopsim)
        .value("idg", goal::ScheduleFormat::idg);
    nb::class_<goal::Graph> graph(m, "Graph", "A schedule in memory.");
    bind_source(graph);
    graph.def_prop_ro("ops", &goal::Graph::op_count, "How many ops it has.");
    graph.def_prop_ro("memory", &goal::Graph::memory, "How many bytes its ops, dependencies and labels take.");
    m.def(
        "read_goal", [](std::string_view text, const std::string& name) { return goal::read_goal(text, name); },
        "text"_a, "name"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Read GOAL text; `name` is what messages call it.");

    m.def(
        "read_schedule",
        [](const std::filesystem::path& path, const nb::object& progress) {
            const nb::gil_scoped_release released;
            return goal::read_schedule(path.string(), RankPoll(progress));
        },
        "path"_a, "progress"_a.none(),
        "Read a schedule of any format, told by its content. `progress` is called with ranks done and all.");
    m.def(
        "convert_schedule",
        [](const std::filesystem::path& source, const std::filesystem::path& target, goal::ScheduleFormat format,
           const nb::object& progress, const std::string& origin) {
            const nb::gil_scoped_release released;
            goal::convert_schedule(source.string(), target.string(), format, RankPoll(progress), origin);
        },
        "source"_a, "target"_a, "format"_a, "progress"_a.none(), "origin"_a,
        "Write a schedule's file in another format, rank by rank: goal, loggopsim or idg. `origin` as in `save`.");
    m.def(
        "crc32c",
        [](const nb::bytes& bytes, std::uint32_t before) {
            return crc32c({static_cast<const std::byte*>(bytes.data()), bytes.size()}, before);
        },
        "bytes"_a, "before"_a, "The CRC-32C of bytes that follow others with the CRC `before`, 0: none.");

    nb::class_<collectives::ProgramSource> program(m, "Program", "Ranks' programs, whose ops are made on demand.");
    bind_program(program);
    nb::class_<collectives::ThreadedProgramSource> threaded(m, "ThreadedProgram",
                                                            "The same of ranks with several threads.");
    bind_program(threaded);
    threaded.def_prop_ro("first_threaded_rank", &collectives::ThreadedProgramSource::first_threaded_rank,
                         "The first rank that has several threads.");
    nb::class_<trace::ColdCaches>(m, "ColdCaches", "The extra CPU time of messages after a computation.")
        .def(nb::new_(&cold_caches_from), "calls"_a, "buffer_after"_a, "buffers"_a,
             "`calls`: (ns of computation, ps), by length; `buffer_after` in ns; `buffers`: (bytes, ps), by size.")
        .def(
            "exchange", &trace::exchange_time, "computed"_a, "size"_a,
            "The extra time of a call that sends and receives `size` bytes after `computed` ns of computation, in ns.");
    nb::enum_<trace::TracePoint::Kind>(m, "TracePoint", "The kinds of points in a run (core/trace/convert.hpp).")
        .value("none", trace::TracePoint::Kind::none)
        .value("calls", trace::TracePoint::Kind::calls)
        .value("time", trace::TracePoint::Kind::time)
        .value("pcontrol", trace::TracePoint::Kind::pcontrol);
    nb::class_<trace::ComputationOptions>(m, "ComputationOptions",
                                          "How long computations take (core/trace/computation_times.hpp).")
        .def(nb::init<>())
        .def_rw("drawn", &trace::ComputationOptions::drawn)
        .def_rw("seed", &trace::ComputationOptions::seed)
        .def_rw("factor", &trace::ComputationOptions::factor)
        .def_rw("factors_by_phase", &trace::ComputationOptions::factors_by_phase)
        .def_rw("factors_by_site", &trace::ComputationOptions::factors_by_site)
        .def_rw("noise", &trace::ComputationOptions::noise);
    m.def(
        "convert",
        [](const trace::Trace& trace, const std::map<std::string, std::string>& algorithms, double reduction_cost,
           const collectives::AlgorithmRules& rules, const trace::ColdCaches& cold_caches, bool resolve_wildcards,
           bool wall_gaps, bool cut, const Point& from, const Point& to, const trace::ComputationOptions& computation) {
            const trace::ConvertOptions options =
                options_from(algorithms, reduction_cost, rules, cold_caches, resolve_wildcards, wall_gaps, cut, from,
                             to, computation);
            return traced_program(trace::convert(trace, options));
        },
        "trace"_a, "algorithms"_a, "reduction_cost"_a, "rules"_a, "cold_caches"_a, "resolve_wildcards"_a = true,
        "wall_gaps"_a = false, "cut"_a = false, "from_point"_a = Point{}, "to_point"_a = Point{},
        "computation"_a = trace::ComputationOptions{}, nb::call_guard<nb::gil_scoped_release>(),
        "The program that a trace is a run of.");

    bind_composition(m);
    m.def(
        "algorithms",
        [] {
            std::vector<std::tuple<std::string, std::string, std::string>> rows;
            for (const collectives::Algorithm& a : collectives::algorithms()) {
                rows.emplace_back(name_of(a.collective), a.name, a.source);
            }
            return rows;
        },
        "All algorithms: (collective, name, the paper or MPI that it follows); the first of each is the default.");
}

}  // namespace idlewave
