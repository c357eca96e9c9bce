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
#include "poll.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

/// Samples by column.
nb::dict series_of(const std::vector<pdes::Sample>& samples) {
    nb::list seconds;
    nb::list gvt;
    nb::list committed;
    nb::list rolled_back;
    nb::list log_bytes;
    for (const pdes::Sample& sample : samples) {
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

/// Asks Python, which has a library for it, to cut the graph of who tells whom.
std::vector<std::uint32_t> place_by_graph(const std::vector<std::uint64_t>& between, std::uint32_t partitions) {
    const nb::gil_scoped_acquire gil;
    const nb::object place = nb::module_::import_("idlewave.placing").attr("place");
    return nb::cast<std::vector<std::uint32_t>>(place(column(between), partitions));
}

}  // namespace

Wire::Wire(const std::string& library) {
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* symbol = handle == nullptr ? nullptr : ::dlsym(handle, "idlewave_open_wire");
    if (symbol == nullptr) {
        throw TransportError(file_name(library) + " cannot be used: " + ::dlerror());
    }
    std::array<char, 512> error = {};
    wire_ = reinterpret_cast<decltype(&idlewave_open_wire)>(symbol)(error.data(), error.size());
    if (wire_ == nullptr) {
        throw TransportError("MPI could not be begun: " + std::string(error.data()));
    }
}

void Wire::close() const {
    if (wire_->close() != 0) {
        throw TransportError(wire_->error_text());
    }
}

pdes::Crew crew_of(const nb::dict& manner, const nb::object& progress, const Wire* wire) {
    const bool by_graph = get<bool>(manner, "by_graph");
    return {.threads = get<std::uint32_t>(manner, "threads"),
            .wire = wire == nullptr ? nullptr : &wire->functions(),
            .pin = get<bool>(manner, "pin"),
            .migrate_after = get<std::uint64_t>(manner, "migrate_after"),
            .place = by_graph ? decltype(pdes::Crew::place)(place_by_graph) : nullptr,
            .keeping = {.directory = get<std::filesystem::path>(manner, "checkpoint").string(),
                        .run = get<std::string>(manner, "run"),
                        .every = get<double>(manner, "checkpoint_every"),
                        .restart = get<bool>(manner, "restart")},
            .poll = Poll(progress)};
}

nb::dict counts_of(const pdes::Counted& run, std::uint64_t digest, const idlewave_wire* wire) {
    std::uint64_t memory = peak_memory();
    pdes::add_up(std::span(&memory, 1), wire);
    const pdes::Statistics& counted = run.statistics;
    nb::dict counts;
    counts["committed"] = counted.committed;
    counts["rolled_back"] = counted.rolled_back;
    counts["primary_rollbacks"] = counted.primary_rollbacks;
    counts["secondary_rollbacks"] = counted.secondary_rollbacks;
    counts["taken_back"] = counted.taken_back;
    counts["sent_again"] = counted.sent_again;
    counts["told_elsewhere"] = counted.told_elsewhere;
    counts["mails"] = counted.mails;
    counts["gvt_rounds"] = counted.gvt_rounds;
    counts["ties"] = counted.ties;
    counts["log_bytes"] = counted.log_bytes;
    counts["legs"] = run.legs;
    counts["efficiency"] = counted.efficiency();
    counts["init_seconds"] = run.init_seconds;
    counts["seconds"] = run.seconds;
    counts["digest"] = digest;
    counts["peak_rss_bytes"] = memory;
    counts["series"] = series_of(run.series);
    return counts;
}

}  // namespace idlewave
