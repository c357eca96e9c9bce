#include "kernel_run.hpp"

#include <dlfcn.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/quote.hpp"
#include "bindings.hpp"
#include "columns.hpp"
#include "pdes/exchange.hpp"
#include "pdes/scheduler.hpp"
#include "pdes/schedulers.hpp"
#include "pdes/transport.h"
#include "poll.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

/// Partitions the graph of communication with a library that Python loads.
std::vector<std::uint32_t> place_by_graph(const std::vector<std::uint64_t>& between, std::uint32_t partitions) {
    const nb::gil_scoped_acquire gil;
    const nb::object place = nb::module_::import_("idlewave.placing").attr("place");
    return nb::cast<std::vector<std::uint32_t>>(place(column(between), partitions));
}

}  // namespace

Transport::Transport(const std::string& library) {
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* symbol = handle == nullptr ? nullptr : ::dlsym(handle, "idlewave_open_transport");
    if (symbol == nullptr) {
        throw TransportError(file_name(library) + " cannot be used: " + ::dlerror());
    }
    std::array<char, 512> error = {};
    transport_ = reinterpret_cast<decltype(&idlewave_open_transport)>(symbol)(error.data(), error.size());
    if (transport_ == nullptr) {
        throw TransportError("MPI could not be begun: " + std::string(error.data()));
    }
}

void Transport::close() const {
    if (transport_->close() != 0) {
        throw TransportError(transport_->error_text());
    }
}

pdes::RunConfiguration configured(pdes::RunConfiguration configuration, const nb::object& progress,
                                  const Transport* transport) {
    configuration.transport = transport == nullptr ? nullptr : &transport->functions();
    configuration.poll = Poll(progress);
    return configuration;
}

RunReport report_of(pdes::RunStatistics statistics, std::uint64_t digest, const idlewave_transport* transport) {
    RunReport report{.statistics = std::move(statistics), .digest = digest, .peak_rss_bytes = peak_memory()};
    pdes::sum_over_processes(std::span(&report.peak_rss_bytes, 1), transport);
    return report;
}

namespace {

/// A line of the kernel's table of schedulers.
struct SchedulerLine {
    std::string name;
    std::string description;
    pdes::SchedulerTraits traits;
};

std::vector<SchedulerLine> scheduler_lines() {
    std::vector<SchedulerLine> lines;
    pdes::each_scheduler([&](const auto& line) {
        lines.push_back({std::string(line.name), std::string(line.description), line.traits});
    });
    return lines;
}

void bind_run_configuration(nb::module_& m) {
    nb::class_<SchedulerLine>(m, "Scheduler", "A scheduler of the kernel, and which runs it makes.")
        .def_ro("name", &SchedulerLine::name)
        .def_ro("description", &SchedulerLine::description)
        .def_prop_ro("one_thread", [](const SchedulerLine& line) { return line.traits.one_thread; })
        .def_prop_ro("needs_lookahead", [](const SchedulerLine& line) { return line.traits.needs_lookahead; })
        .def_prop_ro("rolls_back", [](const SchedulerLine& line) { return line.traits.rolls_back; });
    m.def("schedulers", &scheduler_lines, "The schedulers of the kernel.");
    nb::enum_<pdes::PlacementKind>(m, "PlacementKind", "How LPs are placed on partitions.")
        .value("block", pdes::PlacementKind::block)
        .value("cyclic", pdes::PlacementKind::cyclic);
    nb::class_<pdes::CheckpointOptions>(m, "CheckpointOptions", "Where and when a run writes checkpoints.")
        .def(nb::init<>())
        .def_rw("directory", &pdes::CheckpointOptions::directory)
        .def_rw("description", &pdes::CheckpointOptions::description)
        .def_rw("interval", &pdes::CheckpointOptions::interval)
        .def_rw("restart", &pdes::CheckpointOptions::restart);
    nb::class_<pdes::RunConfiguration>(m, "RunConfiguration", "How a run is made.")
        .def(nb::init<>())
        .def_rw("scheduler", &pdes::RunConfiguration::scheduler)
        .def_rw("threads", &pdes::RunConfiguration::threads)
        .def_rw("placement_kind", &pdes::RunConfiguration::placement_kind)
        .def_rw("placement", &pdes::RunConfiguration::placement, "The partition of each LP; empty: by the kind.")
        .def_rw("pin", &pdes::RunConfiguration::pin)
        .def_rw("lazy_cancellation", &pdes::RunConfiguration::lazy_cancellation)
        .def_rw("migrate_after", &pdes::RunConfiguration::migrate_after)
        .def_rw("checkpoint", &pdes::RunConfiguration::checkpoint)
        .def(
            "place_by_graph",
            [](pdes::RunConfiguration& configuration) { configuration.choose_placement = place_by_graph; },
            "Let METIS place the LPs when they migrate, by the graph of who sends events to whom.");
}

/// A read-only property for a member of the statistics' counts.
template <std::uint64_t pdes::Statistics::* member>
std::uint64_t count(const RunReport& report) {
    return report.statistics.counts.*member;
}

void bind_run_report(nb::module_& m) {
    using pdes::Statistics;
    nb::class_<pdes::ProgressSample>(m, "ProgressSample", "The progress of a run after a round of GVT.")
        .def_ro("seconds", &pdes::ProgressSample::seconds)
        .def_ro("gvt", &pdes::ProgressSample::gvt)
        .def_ro("committed", &pdes::ProgressSample::committed)
        .def_ro("rolled_back", &pdes::ProgressSample::rolled_back)
        .def_ro("log_bytes", &pdes::ProgressSample::log_bytes);
    nb::class_<RunReport>(m, "RunReport", "The statistics of a run, summed over all processes.")
        .def_prop_ro("committed", &count<&Statistics::committed>)
        .def_prop_ro("rolled_back", &count<&Statistics::rolled_back>)
        .def_prop_ro("primary_rollbacks", &count<&Statistics::primary_rollbacks>)
        .def_prop_ro("secondary_rollbacks", &count<&Statistics::secondary_rollbacks>)
        .def_prop_ro("cancelled", &count<&Statistics::cancelled>)
        .def_prop_ro("resent", &count<&Statistics::resent>)
        .def_prop_ro("remote_events", &count<&Statistics::remote_events>)
        .def_prop_ro("message_batches", &count<&Statistics::message_batches>)
        .def_prop_ro("gvt_rounds", &count<&Statistics::gvt_rounds>)
        .def_prop_ro("ties", &count<&Statistics::ties>)
        .def_prop_ro("log_bytes", &count<&Statistics::log_bytes>)
        .def_prop_ro("by_one_thread", &count<&Statistics::by_one_thread>)
        .def_prop_ro("segments", [](const RunReport& report) { return report.statistics.segments; })
        .def_prop_ro("efficiency", [](const RunReport& report) { return report.statistics.counts.efficiency(); })
        .def_prop_ro("init_seconds", [](const RunReport& report) { return report.statistics.init_seconds; })
        .def_prop_ro("seconds", [](const RunReport& report) { return report.statistics.seconds; })
        .def_ro("digest", &RunReport::digest)
        .def_ro("peak_rss_bytes", &RunReport::peak_rss_bytes)
        .def_prop_ro("time_unit", [](const RunReport& report) { return report.statistics.time_unit; })
        .def_prop_ro("series", [](const RunReport& report) { return report.statistics.series; });
}

}  // namespace

void bind_kernel_run(nb::module_& m) {
    m.def("peak_memory", &peak_memory, "The largest memory that this process has had, in bytes.");
    nb::class_<Transport>(m, "Transport", "The transport to the other processes of a run, over MPI.")
        .def(nb::init<const std::string&>(), "library"_a,
             "Initialises MPI, with the library that was built with the site's MPI.")
        .def_prop_ro("process", &Transport::process, "The number of this process.")
        .def_prop_ro("processes", &Transport::processes, "The number of processes.")
        .def("close", &Transport::close, "Finalises MPI, together with all processes.")
        .def("abort", &Transport::abort, "status"_a, "Ends all processes at once.");
    bind_run_configuration(m);
    bind_run_report(m);
}

}  // namespace idlewave
