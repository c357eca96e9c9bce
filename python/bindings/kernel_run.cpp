#include "kernel_run.hpp"

#include <dlfcn.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <span>

#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/quote.hpp"
#include "bindings.hpp"
#include "columns.hpp"
#include "pdes/exchange.hpp"
#include "pdes/segmented_run.hpp"
#include "pdes/transport.h"
#include "poll.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

/// Samples by column.
nb::dict series_of(const std::vector<pdes::ProgressSample>& samples) {
    nb::list seconds;
    nb::list gvt;
    nb::list committed;
    nb::list rolled_back;
    nb::list log_bytes;
    for (const pdes::ProgressSample& sample : samples) {
        seconds.append(sample.seconds);
        gvt.append(sample.gvt);
        committed.append(sample.committed);
        rolled_back.append(sample.rolled_back);
        log_bytes.append(sample.log_bytes);
    }
    nb::dict series;
    series["seconds"] = seconds;
    series["gvt"] = gvt;
    series["committed"] = committed;
    series["rolled_back"] = rolled_back;
    series["log_bytes"] = log_bytes;
    return series;
}

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

namespace {

pdes::Scheduler scheduler_of(const std::string& name) {
    return name == "timewarp" ? pdes::Scheduler::timewarp
           : name == "yawns"  ? pdes::Scheduler::yawns
           : name == "check"  ? pdes::Scheduler::check
                              : pdes::Scheduler::sequential;
}

}  // namespace

pdes::RunConfiguration configuration_of(const nb::dict& given, const nb::object& progress, const Transport* transport) {
    pdes::RunConfiguration configuration;
    configuration.scheduler = scheduler_of(get<std::string>(given, "scheduler"));
    configuration.threads = get<std::uint32_t>(given, "threads");
    configuration.transport = transport == nullptr ? nullptr : &transport->functions();
    if (std::string kind; nb::try_cast(given["placement"], kind)) {
        configuration.placement_kind = kind == "cyclic" ? pdes::PlacementKind::cyclic : pdes::PlacementKind::block;
    } else {
        configuration.placement = get<std::vector<std::uint32_t>>(given, "placement");
    }
    configuration.pin = get<bool>(given, "pin");
    configuration.lazy_cancellation = get<bool>(given, "lazy");
    configuration.migrate_after = get<std::uint64_t>(given, "migrate_after");
    if (get<bool>(given, "by_graph")) {
        configuration.place = place_by_graph;
    }
    configuration.checkpoint = {.directory = get<std::filesystem::path>(given, "checkpoint").string(),
                                .description = get<std::string>(given, "run"),
                                .interval = get<double>(given, "checkpoint_every"),
                                .restart = get<bool>(given, "restart")};
    configuration.poll = Poll(progress);
    return configuration;
}

nb::dict counts_of(const pdes::RunStatistics& run, std::uint64_t digest, const idlewave_transport* transport) {
    std::uint64_t memory = peak_memory();
    pdes::sum_over_processes(std::span(&memory, 1), transport);
    const pdes::Statistics& statistics = run.counts;
    nb::dict counts;
    counts["committed"] = statistics.committed;
    counts["rolled_back"] = statistics.rolled_back;
    counts["primary_rollbacks"] = statistics.primary_rollbacks;
    counts["secondary_rollbacks"] = statistics.secondary_rollbacks;
    counts["cancelled"] = statistics.cancelled;
    counts["resent"] = statistics.resent;
    counts["remote_events"] = statistics.remote_events;
    counts["message_batches"] = statistics.message_batches;
    counts["gvt_rounds"] = statistics.gvt_rounds;
    counts["ties"] = statistics.ties;
    counts["log_bytes"] = statistics.log_bytes;
    counts["segments"] = run.segments;
    counts["efficiency"] = statistics.efficiency();
    counts["init_seconds"] = run.init_seconds;
    counts["seconds"] = run.seconds;
    counts["digest"] = digest;
    counts["peak_rss_bytes"] = memory;
    counts["series"] = series_of(run.series);
    return counts;
}

}  // namespace idlewave
