#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/quote.hpp"
#include "bindings.hpp"
#include "columns.hpp"
#include "trace/communicators.hpp"
#include "trace/computations.hpp"
#include "trace/profile.hpp"
#include "trace/rank_trace.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

nb::dict header(const trace::TraceHeader& h) {
    nb::dict d;
    d["rank"] = h.rank;
    d["ranks"] = h.ranks;
    d["init_end_ns"] = h.init_end;
    d["finalize_begin_ns"] = h.finalize_begin;
    d["finalized"] = h.finalized();
    d["thread_level"] = h.thread_level;
    d["clock_offset_ns"] = h.offset_init;
    d["clock_error_ns"] = h.offset_init_error;
    d["clock_at_ns"] = h.offset_init_at;
    d["clock_end_offset_ns"] = h.offset_finalize;
    d["clock_end_error_ns"] = h.offset_finalize_error;
    d["clock_end_at_ns"] = h.offset_finalize_at;
    d["lost"] = h.lost;
    d["record_cost_ps"] = h.record_cost_ps;
    d["voluntary_switches"] = h.voluntary_switches;
    d["involuntary_switches"] = h.involuntary_switches;
    d["cpu_ns"] = h.cpu_ns;
    d["host"] = shown(h.host);
    d["library"] = shown(h.library);
    return d;
}

/// The run time of the first thread, and of each further one the time from its first call to its last, ns.
std::int64_t time_of_threads(const trace::RankTrace& rank) {
    const trace::TraceHeader& h = rank.header();
    const trace::ThreadSpan& first = rank.threads().front();
    std::int64_t sum = std::max<std::int64_t>((h.finalize_begin > 0 ? h.finalize_begin : first.end) - h.init_end, 0);
    for (const trace::ThreadSpan& thread : std::span(rank.threads()).subspan(1)) {
        sum = std::min(sum + std::max<std::int64_t>(thread.end - thread.begin, 0), trace::latest);
    }
    return sum;
}

nb::list headers(const trace::Trace& trace) {
    nb::list list;
    for (const trace::RankTrace& rank : trace.ranks) {
        nb::dict d = header(rank.header());
        d["calls"] = rank.calls();
        d["threads"] = rank.threads().size();
        d["threads_ns"] = time_of_threads(rank);
        d["core_waits_known"] = rank.core_waits_known();
        d["core_wait_in_computations_ns"] = rank.core_wait_in_computations();
        d["core_wait_in_calls_ns"] = rank.core_wait_in_calls();
        d["host_cores"] = rank.host_cores().number;
        d["usable_cores"] = rank.host_cores().usable;
        d["host_busy_begin_ns"] = rank.host_cores().busy_begin;
        d["host_busy_end_ns"] = rank.host_cores().busy_end;
        list.append(d);
    }
    return list;
}

nb::dict calls(const trace::Trace& trace) {
    std::vector<trace::CallRow> rows;
    {
        const nb::gil_scoped_release released;
        rows = trace::call_rows(trace);
    }
    nb::dict d;
    d["rank"] = column_of<std::uint32_t>(rows, [](const trace::CallRow& r) { return r.rank; });
    d["thread"] = column_of<std::uint32_t>(rows, [](const trace::CallRow& r) { return r.thread; });
    d["call"] = column_of<std::uint16_t>(rows, [](const trace::CallRow& r) { return r.call; });
    d["group"] = column_of<std::uint8_t>(rows, [](const trace::CallRow& r) { return r.group; });
    d["begin_ns"] = column_of<std::int64_t>(rows, [](const trace::CallRow& r) { return r.begin; });
    d["end_ns"] = column_of<std::int64_t>(rows, [](const trace::CallRow& r) { return r.end; });
    d["inside_ns"] = column_of<std::int64_t>(rows, [](const trace::CallRow& r) { return r.inside; });
    d["peer"] = column_of<std::int64_t>(rows, [](const trace::CallRow& r) { return r.peer; });
    d["bytes"] = column_of<std::int64_t>(rows, [](const trace::CallRow& r) { return r.bytes; });
    return d;
}

/// Some records of a rank, as columns.
struct RecordColumns {
    static constexpr std::size_t most_records = std::size_t{1} << 13;
    static constexpr std::size_t most_words = std::size_t{1} << 17;

    std::vector<std::uint32_t> thread;
    std::vector<std::uint16_t> call;
    std::vector<std::uint16_t> info;
    std::vector<std::int64_t> begin;
    std::vector<std::int64_t> end;
    std::vector<std::uint64_t> first_word{0};
    std::vector<std::uint64_t> words;

    [[nodiscard]] bool full() const { return call.size() >= most_records || words.size() >= most_words; }

    void add(const trace::TraceRecord& r, const trace::TraceHeader& header) {
        thread.push_back(r.thread);
        call.push_back(static_cast<std::uint16_t>(r.call));
        info.push_back(r.info);
        begin.push_back(header.global(r.begin));
        end.push_back(header.global(r.end));
        words.insert(words.end(), r.words.begin(), r.words.end());
        first_word.push_back(words.size());
    }
};

nb::dict columns_of(RecordColumns records) {
    nb::dict d;
    d["thread"] = column(std::move(records.thread));
    d["call"] = column(std::move(records.call));
    d["info"] = column(std::move(records.info));
    d["begin_ns"] = column(std::move(records.begin));
    d["end_ns"] = column(std::move(records.end));
    d["first_word"] = column(std::move(records.first_word));
    d["words"] = column(std::move(records.words));
    return d;
}

void each_records(const trace::Trace& trace, std::size_t rank, const nb::callable& use) {
    if (rank >= trace.ranks.size()) {
        throw nb::index_error("the trace has no such rank");
    }
    const trace::RankTrace& of_rank = trace.ranks[rank];
    RecordColumns records;
    of_rank.each([&](const trace::TraceRecord& r) {
        records.add(r, of_rank.header());
        if (records.full()) {
            use(columns_of(std::exchange(records, {})));
        }
    });
    if (!records.call.empty()) {
        use(columns_of(std::move(records)));
    }
}

nb::object none_or(const std::optional<std::int32_t>& level) {
    return level ? nb::cast(*level) : nb::none();
}

/// The sites of a trace, and the computations before their calls as columns.
nb::dict computations(const trace::Trace& trace, bool wall) {
    trace::Computations found;
    {
        const nb::gil_scoped_release released;
        found = trace::computations_of(trace.ranks, wall);
    }
    nb::list sites;
    for (const trace::SiteOfTrace& own : found.sites) {
        nb::dict d;
        d["id"] = own.site.id();
        d["level"] = none_or(own.site.level);
        nb::list calls;
        for (const trace::CallKind& kind : own.site.calls) {
            calls.append(nb::make_tuple(static_cast<std::uint16_t>(kind.call), kind.communicator));
        }
        d["calls"] = calls;
        d["cycle_length"] = own.cycle_length;
        d["least_bytes"] = own.least_bytes;
        d["most_bytes"] = own.most_bytes;
        sites.append(d);
    }
    nb::dict answer;
    answer["sites"] = sites;
    answer["rank"] = column_of<std::uint32_t>(found.rows, [](const trace::ComputationRow& r) { return r.rank; });
    answer["site"] = column_of<std::uint32_t>(found.rows, [](const trace::ComputationRow& r) { return r.site; });
    answer["position"] =
        column_of<std::uint32_t>(found.rows, [](const trace::ComputationRow& r) { return r.position; });
    answer["ns"] = column_of<std::int64_t>(found.rows, [](const trace::ComputationRow& r) { return r.ns; });
    return answer;
}

/// A communicator's id, whether it is an intercommunicator, and the members of its groups, ranks of the world.
nb::list communicators(const trace::Trace& trace) {
    const trace::Communicators found(trace);
    nb::list list;
    for (const auto& [id, groups] : found.all()) {
        nb::list members;
        for (const trace::Communicators::Group& group : groups) {
            members.append(column(group.members));
        }
        list.append(nb::make_tuple(id, !groups.empty() && groups.front().intercommunicator, members));
    }
    return list;
}

std::uint64_t sum(const trace::Trace& t, std::uint64_t (trace::RankTrace::*count)() const) {
    std::uint64_t all = 0;
    for (const trace::RankTrace& rank : t.ranks) {
        all += (rank.*count)();
    }
    return all;
}

}  // namespace

void bind_trace(nb::module_& m) {
    nb::class_<trace::Trace>(m, "Trace", "The files of a traced run, read and checked.")
        .def_static(
            "read", [](const std::filesystem::path& directory) { return trace::Trace::read(directory.string()); },
            "directory"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("ranks", [](const trace::Trace& t) { return t.ranks.size(); })
        .def_prop_ro("duration_ns", &trace::Trace::duration)
        .def_prop_ro(
            "one_sided_calls", [](const trace::Trace& t) { return sum(t, &trace::RankTrace::one_sided_calls); },
            "The number of puts, gets and accumulates.")
        .def_prop_ro("file_calls", [](const trace::Trace& t) { return sum(t, &trace::RankTrace::file_calls); })
        .def("headers", &headers, "One dict a rank.")
        .def("each_records", &each_records, "rank"_a, "use"_a,
             "Call `use` with the columns of a rank's records, some thousands at a time, in order: thread, call, info, "
             "begin_ns and end_ns (on rank 0's clock), the number of the first of its words, with one more at the end, "
             "and the words "
             "of all (docs/trace-format.md).")
        .def("communicators", &communicators,
             "Communicators but MPI_COMM_SELF: id, whether it is an intercommunicator, and the members of its groups, "
             "each as ranks of MPI_COMM_WORLD.")
        .def("calls", &calls, "Columns of all calls (docs/trace-format.md); times on rank 0's clock.")
        .def(
            "computations", &computations, "wall"_a,
            "Columns of all computations: rank, number of the site, position in its cycle from 0 on, ns. The sites are "
            "dicts: id, level of the last MPI_Pcontrol or None, (number of the call, communicator) of the call and "
            "the five before it, length of the cycle, and the least and most bytes. `wall`: with the waits for a "
            "core.");
    m.def(
        "recorded_calls",
        [](const std::filesystem::path& file) { return trace::RankTrace::read(file.string()).calls(); }, "file"_a,
        nb::call_guard<nb::gil_scoped_release>(), "The number of calls in the file of a rank.");
    m.def(
        "call_name", [](std::uint16_t call) { return call_name(static_cast<trace::Call>(call)); }, "call"_a,
        "The MPI function that a call number stands for.");
}

}  // namespace idlewave
