#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>

#include <array>
#include <string>

#include "base/error.hpp"
#include "bindings.hpp"
#include "models/phold.hpp"
#include "pdes/run_events.hpp"
#include "pdes/wire.h"
#include "poll.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

/// The wire to the other processes of a run, from the library that was built with the site's MPI. It stays open until
/// the process ends, since MPI can be begun only once.
class Wire {
  public:
    explicit Wire(const std::string& library) {
        void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
        void* symbol = handle == nullptr ? nullptr : ::dlsym(handle, "idlewave_open_wire");
        if (symbol == nullptr) {
            throw TransportError(library + " cannot be used: " + ::dlerror());
        }
        std::array<char, 512> error = {};
        wire_ = reinterpret_cast<decltype(&idlewave_open_wire)>(symbol)(error.data(), error.size());
        if (wire_ == nullptr) {
            throw TransportError("MPI could not be begun: " + std::string(error.data()));
        }
    }

    [[nodiscard]] const idlewave_wire& functions() const { return *wire_; }
    [[nodiscard]] std::int32_t process() const { return wire_->process; }
    [[nodiscard]] std::int32_t processes() const { return wire_->processes; }
    void close() const {
        if (wire_->close() != 0) {
            throw TransportError(wire_->error_text());
        }
    }
    void abort(std::int32_t status) const { wire_->abort(status); }

  private:
    const idlewave_wire* wire_ = nullptr;
};

pdes::EventRunOptions options_of(const std::string& scheduler, std::uint32_t threads, bool lazy, Time cell,
                                 const nb::object& progress, const Wire* wire) {
    const auto how = scheduler == "timewarp" ? pdes::Scheduler::timewarp
                     : scheduler == "yawns"  ? pdes::Scheduler::yawns
                     : scheduler == "check"  ? pdes::Scheduler::check
                                             : pdes::Scheduler::sequential;
    return {.scheduler = how,
            .threads = threads,
            .lazy = lazy,
            .cell = cell,
            .poll = Poll(progress),
            .wire = wire == nullptr ? nullptr : &wire->functions()};
}

nb::dict columns_of(const pdes::EventRun& run) {
    const pdes::Statistics& counted = run.statistics;
    nb::dict answer;
    answer["committed"] = counted.committed;
    answer["rolled_back"] = counted.rolled_back;
    answer["primary_rollbacks"] = counted.primary_rollbacks;
    answer["secondary_rollbacks"] = counted.secondary_rollbacks;
    answer["taken_back"] = counted.taken_back;
    answer["sent_again"] = counted.sent_again;
    answer["told_elsewhere"] = counted.told_elsewhere;
    answer["mails"] = counted.mails;
    answer["gvt_rounds"] = counted.gvt_rounds;
    answer["ties"] = counted.ties;
    answer["log_bytes"] = counted.log_bytes;
    answer["efficiency"] = counted.efficiency();
    answer["init_seconds"] = run.init_seconds;
    answer["seconds"] = run.seconds;
    answer["digest"] = run.digest;
    return answer;
}

nb::dict run_phold(std::uint32_t lps, std::uint32_t start_events, double remote, Time mean, Time lookahead, Time end,
                   std::uint64_t seed, const std::string& scheduler, std::uint32_t threads, bool lazy, Time cell,
                   const nb::object& progress, const Wire* wire) {
    const pdes::EventRunOptions options = options_of(scheduler, threads, lazy, cell, progress, wire);
    pdes::EventRun run;
    {
        const nb::gil_scoped_release released;
        const Phold phold({.lps = lps,
                           .start_events = start_events,
                           .remote = remote,
                           .mean = mean,
                           .lookahead = lookahead,
                           .end = end,
                           .seed = seed});
        run = pdes::run_events(phold, options, [](std::uint32_t /*lp*/, const Phold::State& /*state*/) {});
    }
    return columns_of(run);
}

}  // namespace

void bind_pdes(nb::module_& m) {
    nb::class_<Wire>(m, "Wire", "To the other processes of a run, by MPI, which this one begins.")
        .def(nb::init<const std::string&>(), "library"_a, "From the library that was built with the site's MPI.")
        .def_prop_ro("process", &Wire::process, "The number of this process.")
        .def_prop_ro("processes", &Wire::processes, "How many there are.")
        .def("close", &Wire::close, "Ends MPI, when all processes do.")
        .def("abort", &Wire::abort, "status"_a, "Ends all processes at once.");
    m.def("phold", &run_phold, "lps"_a, "start_events"_a, "remote"_a, "mean"_a, "lookahead"_a, "end"_a, "seed"_a,
          "scheduler"_a, "threads"_a, "lazy"_a, "cell"_a, "progress"_a.none(), "wire"_a.none(),
          "Run PHOLD; times in ps. The answer has what the run counted, seconds, and a digest of all states.");
}

}  // namespace idlewave
