#include "record.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "collectives/call_name.hpp"
#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "columns.hpp"
#include "goal/graph.hpp"
#include "timeline/critical_path.hpp"
#include "timeline/op_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {

extern template nb::dict record(const Composition&, const Machine&, std::uint64_t, std::uint32_t, const nb::object&,
                                const RecordingScope&);
extern template nb::dict record_partitioned(const Composition&, const Machine&, std::uint64_t,
                                            const pdes::RunConfiguration&, const nb::object&, const Transport*,
                                            const RecordingScope&);
extern template nb::dict record(const ProgramSource&, const Machine&, std::uint64_t, std::uint32_t, const nb::object&,
                                const RecordingScope&);
extern template nb::dict record_partitioned(const ProgramSource&, const Machine&, std::uint64_t,
                                            const pdes::RunConfiguration&, const nb::object&, const Transport*,
                                            const RecordingScope&);

namespace {

constexpr std::int64_t or_none(std::uint32_t value) {
    return value == any ? -1 : std::int64_t{value};
}

nb::dict op_columns(const std::vector<OpRow>& rows) {
    nb::dict ops;
    ops["rank"] = column_of<std::uint32_t>(rows, [](const OpRow& r) { return r.op.rank; });
    ops["op"] = column_of<std::uint32_t>(rows, [](const OpRow& r) { return r.op.op_index; });
    ops["kind"] = column_of<std::uint8_t>(rows, [](const OpRow& r) { return r.op.kind; });
    ops["peer"] = column_of<std::int64_t>(
        rows, [](const OpRow& r) { return r.op.kind == OpKind::calc ? -1 : or_none(r.op.peer); });
    ops["tag"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return or_none(r.op.tag); });
    ops["size"] = column_of<std::uint64_t>(rows, [](const OpRow& r) { return r.op.size; });
    ops["call"] = column_of<std::uint16_t>(rows, [](const OpRow& r) { return r.op.call; });
    ops["ready_ps"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.op.ready.time; });
    ops["start_ps"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.op.start.time; });
    ops["work_ps"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.work; });
    ops["free_ps"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.free; });
    ops["end_ps"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.op.end.time; });
    ops["noise_ps"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.noise; });
    ops["wait_ps"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.wait; });
    ops["wait_state"] = column_of<std::uint8_t>(rows, [](const OpRow& r) { return r.state; });
    ops["cause"] = column_of<std::uint8_t>(rows, [](const OpRow& r) { return r.cause; });
    ops["cause_rank"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.cause_rank; });
    ops["cause_op"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.cause_op; });
    ops["match_rank"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.match_rank; });
    ops["match_op"] = column_of<std::int64_t>(rows, [](const OpRow& r) { return r.match_op; });
    return ops;
}

nb::dict path_columns(const std::vector<PathStep>& path) {
    const auto span = [&path](Time Spans::* field) {
        return column_of<std::int64_t>(path, [field](const PathStep& s) { return s.spans.*field; });
    };
    nb::dict columns;
    columns["rank"] = column_of<std::uint32_t>(path, [](const PathStep& s) { return s.rank; });
    columns["op"] = column_of<std::int64_t>(path, [](const PathStep& s) { return or_none(s.activity.op_index); });
    columns["activity"] = column_of<std::uint8_t>(path, [](const PathStep& s) { return s.activity.kind; });
    columns["message"] = column_of<std::uint8_t>(path, [](const PathStep& s) { return s.activity.message; });
    columns["peer"] = column_of<std::int64_t>(path, [](const PathStep& s) {
        return s.activity.kind == ActivityKind::computation ? std::int64_t{-1} : std::int64_t{s.activity.peer};
    });
    columns["size"] = column_of<std::uint64_t>(path, [](const PathStep& s) { return s.activity.amount; });
    columns["until"] = column_of<std::uint8_t>(path, [](const PathStep& s) { return s.point; });
    columns["from_ps"] = column_of<std::int64_t>(path, [](const PathStep& s) { return s.from; });
    columns["to_ps"] = column_of<std::int64_t>(path, [](const PathStep& s) { return s.to; });
    columns["latency_ps"] = span(&Spans::latency);
    columns["overhead_ps"] = span(&Spans::overhead);
    columns["gap_ps"] = span(&Spans::gap);
    columns["wire_bytes_ps"] = span(&Spans::wire_bytes);
    columns["cpu_bytes_ps"] = span(&Spans::cpu_bytes);
    columns["computation_ps"] = span(&Spans::computation);
    columns["noise_ps"] = span(&Spans::noise);
    return columns;
}

nb::dict queue_columns(const std::vector<QueueRecord>& queues) {
    nb::dict columns;
    columns["arrivals"] = column_of<std::uint64_t>(queues, [](const QueueRecord& q) { return q.arrivals; });
    columns["unexpected"] = column_of<std::uint64_t>(queues, [](const QueueRecord& q) { return q.unexpected; });
    columns["posted_lengths"] = column_of<std::uint64_t>(queues, [](const QueueRecord& q) { return q.posted_lengths; });
    columns["most_posted"] = column_of<std::uint32_t>(queues, [](const QueueRecord& q) { return q.most_posted; });
    columns["receives"] = column_of<std::uint64_t>(queues, [](const QueueRecord& q) { return q.receives; });
    columns["matched_unexpected"] =
        column_of<std::uint64_t>(queues, [](const QueueRecord& q) { return q.matched_unexpected; });
    columns["unexpected_lengths"] =
        column_of<std::uint64_t>(queues, [](const QueueRecord& q) { return q.unexpected_lengths; });
    columns["most_unexpected"] =
        column_of<std::uint32_t>(queues, [](const QueueRecord& q) { return q.most_unexpected; });
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
    for (std::uint16_t number = 0; number == 0 || !call_name(number).operation.empty(); ++number) {
        const CallName call = call_name(number);
        names.append(nb::make_tuple(std::string(call.operation), std::string(call.algorithm), call.collective));
    }
    return names;
}

}  // namespace

/// What was recorded, as columns. The critical path needs all ranks and times.
nb::dict answer_of(Recorder& recorder, const std::vector<CausedTime>& finish, const Machine& machine,
                   const RecordingScope& recording) {
    const SimulationRecord record = recorder.take();
    const bool whole = recording.first == 0 && recording.last >= record.ops.size() - 1 && recording.from == 0 &&
                       recording.until == never;
    std::vector<OpRow> rows;
    std::vector<PathStep> path;
    {
        const nb::gil_scoped_release released;
        rows = op_rows(record, machine);
        if (whole) {
            path = critical_path(record, finish, machine);
        }
    }
    nb::dict answer;
    std::vector<Time> finish_times(finish.size());
    std::ranges::transform(finish, finish_times.begin(), &CausedTime::time);
    put_finish(answer, std::move(finish_times));
    answer["columns"] = op_columns(rows);
    answer["path"] = path_columns(path);
    answer["queues"] = queue_columns(record.queues);
    return answer;
}

void bind_record(nb::module_& m) {
    nb::class_<RecordingScope>(m, "Recording",
                               "Which ops of a simulation are recorded, and how much memory they may take.")
        .def(nb::init<>())
        .def_rw("first", &RecordingScope::first, "The first rank.")
        .def_rw("last", &RecordingScope::last, "The last rank.")
        .def_rw("from_ps", &RecordingScope::from, "The earliest start of an op, in ps.")
        .def_rw("until_ps", &RecordingScope::until, "Ops start before this time, in ps.")
        .def_rw("most_bytes", &RecordingScope::most_bytes);
    bind<Graph>(m, "Simulate a schedule and record ops, critical path and matching queues, as columns.",
                "Simulate a schedule in partitions and record the same.");
    bind<Composition>(m, "Simulate jobs beside each other and record them.", "The same in partitions.");
    bind<ProgramSource>(m, "Simulate a traced program and record it.", "The same in partitions.");
    m.def("call_names", &call_names, "Of each number of `call`: operation, algorithm, and whether it is a collective.");
}

}  // namespace idlewave
