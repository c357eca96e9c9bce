#include "record.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "collectives/call_name.hpp"
#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "collectives/threaded_program.hpp"
#include "columns.hpp"
#include "goal/graph.hpp"
#include "goal/graph_run.hpp"
#include "timeline/critical_path.hpp"
#include "timeline/op_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {

extern template nb::dict record(const collectives::Composition&, const machine::Machine&, std::uint64_t, std::uint32_t,
                                const nb::object&, const loggops::RecordingScope&);
extern template nb::dict record_partitioned(const collectives::Composition&, const machine::Machine&, std::uint64_t,
                                            const pdes::RunConfiguration&, const nb::object&, const Transport*,
                                            const loggops::RecordingScope&);
extern template nb::dict record(const collectives::ProgramSource&, const machine::Machine&, std::uint64_t,
                                std::uint32_t, const nb::object&, const loggops::RecordingScope&);
extern template nb::dict record_partitioned(const collectives::ProgramSource&, const machine::Machine&, std::uint64_t,
                                            const pdes::RunConfiguration&, const nb::object&, const Transport*,
                                            const loggops::RecordingScope&);
extern template nb::dict record(const collectives::ThreadedProgramSource&, const machine::Machine&, std::uint64_t,
                                std::uint32_t, const nb::object&, const loggops::RecordingScope&);
extern template nb::dict record_partitioned(const collectives::ThreadedProgramSource&, const machine::Machine&,
                                            std::uint64_t, const pdes::RunConfiguration&, const nb::object&,
                                            const Transport*, const loggops::RecordingScope&);

namespace {

constexpr std::int64_t or_none(std::uint32_t value) {
    return value == goal::any ? -1 : std::int64_t{value};
}

nb::dict op_columns(const std::vector<timeline::OpRow>& rows) {
    nb::dict ops;
    ops["rank"] = column_of<std::uint32_t>(rows, [](const timeline::OpRow& r) { return r.op.rank; });
    ops["op"] = column_of<std::uint32_t>(rows, [](const timeline::OpRow& r) { return r.op.op_index; });
    ops["kind"] = column_of<std::uint8_t>(rows, [](const timeline::OpRow& r) { return r.op.kind; });
    ops["peer"] = column_of<std::int64_t>(
        rows, [](const timeline::OpRow& r) { return r.op.kind == goal::OpKind::calc ? -1 : or_none(r.op.peer); });
    ops["tag"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return or_none(r.op.tag); });
    ops["size"] = column_of<std::uint64_t>(rows, [](const timeline::OpRow& r) { return r.op.size; });
    ops["call"] = column_of<std::uint16_t>(rows, [](const timeline::OpRow& r) { return r.op.call; });
    ops["ready_ps"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.op.ready.time; });
    ops["start_ps"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.op.start.time; });
    ops["work_ps"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.work; });
    ops["free_ps"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.free; });
    ops["end_ps"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.op.end.time; });
    ops["noise_ps"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.noise; });
    ops["wait_ps"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.wait; });
    ops["wait_state"] = column_of<std::uint8_t>(rows, [](const timeline::OpRow& r) { return r.state; });
    ops["cause"] = column_of<std::uint8_t>(rows, [](const timeline::OpRow& r) { return r.cause; });
    ops["cause_rank"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.cause_rank; });
    ops["cause_op"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.cause_op; });
    ops["match_rank"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.match_rank; });
    ops["match_op"] = column_of<std::int64_t>(rows, [](const timeline::OpRow& r) { return r.match_op; });
    return ops;
}

nb::dict path_columns(const std::vector<timeline::PathStep>& path) {
    const auto span = [&path](Time timeline::Spans::* field) {
        return column_of<std::int64_t>(path, [field](const timeline::PathStep& s) { return s.spans.*field; });
    };
    nb::dict columns;
    columns["rank"] = column_of<std::uint32_t>(path, [](const timeline::PathStep& s) { return s.rank; });
    columns["op"] =
        column_of<std::int64_t>(path, [](const timeline::PathStep& s) { return or_none(s.activity.op_index); });
    columns["activity"] = column_of<std::uint8_t>(path, [](const timeline::PathStep& s) { return s.activity.kind; });
    columns["message"] = column_of<std::uint8_t>(path, [](const timeline::PathStep& s) { return s.activity.message; });
    columns["peer"] = column_of<std::int64_t>(path, [](const timeline::PathStep& s) {
        return s.activity.kind == loggops::ActivityKind::computation ? std::int64_t{-1} : std::int64_t{s.activity.peer};
    });
    columns["size"] = column_of<std::uint64_t>(path, [](const timeline::PathStep& s) { return s.activity.amount; });
    columns["until"] = column_of<std::uint8_t>(path, [](const timeline::PathStep& s) { return s.point; });
    columns["from_ps"] = column_of<std::int64_t>(path, [](const timeline::PathStep& s) { return s.from; });
    columns["to_ps"] = column_of<std::int64_t>(path, [](const timeline::PathStep& s) { return s.to; });
    columns["latency_ps"] = span(&timeline::Spans::latency);
    columns["overhead_ps"] = span(&timeline::Spans::overhead);
    columns["gap_ps"] = span(&timeline::Spans::gap);
    columns["wire_bytes_ps"] = span(&timeline::Spans::wire_bytes);
    columns["cpu_bytes_ps"] = span(&timeline::Spans::cpu_bytes);
    columns["completion_ps"] = span(&timeline::Spans::completion);
    columns["computation_ps"] = span(&timeline::Spans::computation);
    columns["noise_ps"] = span(&timeline::Spans::noise);
    return columns;
}

nb::dict queue_columns(const std::vector<loggops::QueueRecord>& queues) {
    nb::dict columns;
    columns["arrivals"] = column_of<std::uint64_t>(queues, [](const loggops::QueueRecord& q) { return q.arrivals; });
    columns["unexpected"] =
        column_of<std::uint64_t>(queues, [](const loggops::QueueRecord& q) { return q.unexpected; });
    columns["posted_lengths"] =
        column_of<std::uint64_t>(queues, [](const loggops::QueueRecord& q) { return q.posted_lengths; });
    columns["most_posted"] =
        column_of<std::uint32_t>(queues, [](const loggops::QueueRecord& q) { return q.most_posted; });
    columns["receives"] = column_of<std::uint64_t>(queues, [](const loggops::QueueRecord& q) { return q.receives; });
    columns["matched_unexpected"] =
        column_of<std::uint64_t>(queues, [](const loggops::QueueRecord& q) { return q.matched_unexpected; });
    columns["unexpected_lengths"] =
        column_of<std::uint64_t>(queues, [](const loggops::QueueRecord& q) { return q.unexpected_lengths; });
    columns["most_unexpected"] =
        column_of<std::uint32_t>(queues, [](const loggops::QueueRecord& q) { return q.most_unexpected; });
    return columns;
}

template <class S>
void bind(nb::module_& m, const char* text, const char* text_of_partitions) {
    m.def("record", &record<S>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none(), "recording"_a,
          text);
    m.def("record_partitioned", &record_partitioned<S>, "schedule"_a, "machine"_a, "seed"_a, "configuration"_a,
          "progress"_a.none(), "transport"_a.none(), "recording"_a, text_of_partitions);
}

nb::list call_names() {
    nb::list names;
    for (std::uint16_t number = 0; number == 0 || !collectives::call_name(number).operation.empty(); ++number) {
        const collectives::CallName call = collectives::call_name(number);
        names.append(nb::make_tuple(std::string(call.operation), std::string(call.algorithm), call.collective));
    }
    return names;
}

}  // namespace

/// What was recorded, as columns. The critical path needs all ranks and times.
nb::dict answer_of(loggops::Recorder& recorder, const std::vector<loggops::CausedTime>& finish,
                   const machine::Machine& machine, const loggops::RecordingScope& recording) {
    const loggops::SimulationRecord record = recorder.take();
    const bool whole = recording.first == 0 && recording.last >= record.ops.size() - 1 && recording.from == 0 &&
                       recording.until == never;
    std::vector<timeline::OpRow> rows;
    std::vector<timeline::PathStep> path;
    {
        const nb::gil_scoped_release released;
        rows = timeline::op_rows(record, machine);
        if (whole) {
            path = timeline::critical_path(record, finish, machine);
        }
    }
    nb::dict answer;
    std::vector<Time> finish_times(finish.size());
    std::ranges::transform(finish, finish_times.begin(), &loggops::CausedTime::time);
    put_finish(answer, std::move(finish_times));
    answer["columns"] = op_columns(rows);
    answer["path"] = path_columns(path);
    answer["queues"] = queue_columns(record.queues);
    return answer;
}

void bind_record(nb::module_& m) {
    nb::class_<loggops::RecordingScope>(m, "Recording",
                                        "Which ops of a simulation are recorded, and how much memory they may take.")
        .def(nb::init<>())
        .def_rw("first", &loggops::RecordingScope::first, "The first rank.")
        .def_rw("last", &loggops::RecordingScope::last, "The last rank.")
        .def_rw("from_ps", &loggops::RecordingScope::from, "The earliest start of an op, in ps.")
        .def_rw("until_ps", &loggops::RecordingScope::until, "Ops start before this time, in ps.")
        .def_rw("most_bytes", &loggops::RecordingScope::most_bytes);
    bind<goal::Graph>(m, "Simulate a schedule and record ops, critical path and matching queues, as columns.",
                      "Simulate a schedule in partitions and record the same.");
    bind<collectives::Composition>(m, "Simulate jobs beside each other and record them.", "The same in partitions.");
    bind<collectives::ProgramSource>(m, "Simulate a traced program and record it.", "The same in partitions.");
    bind<collectives::ThreadedProgramSource>(m, "The same of a program whose ranks have several threads.",
                                             "The same in partitions.");
    m.def("call_names", &call_names, "Of each number of `call`: operation, algorithm, and whether it is a collective.");
}

}  // namespace idlewave
