#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bindings.hpp"
#include "models/phold.hpp"
#include "pdes/run_events.hpp"
#include "poll.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

pdes::EventRunOptions options_of(const std::string& scheduler, std::uint32_t threads, bool lazy, Time cell,
                                 const nb::object& progress) {
    const auto how = scheduler == "timewarp" ? pdes::Scheduler::timewarp
                     : scheduler == "yawns"  ? pdes::Scheduler::yawns
                                             : pdes::Scheduler::sequential;
    return {.scheduler = how, .threads = threads, .lazy = lazy, .cell = cell, .poll = Poll(progress)};
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
                   const nb::object& progress) {
    const pdes::EventRunOptions options = options_of(scheduler, threads, lazy, cell, progress);
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
    m.def("phold", &run_phold, "lps"_a, "start_events"_a, "remote"_a, "mean"_a, "lookahead"_a, "end"_a, "seed"_a,
          "scheduler"_a, "threads"_a, "lazy"_a, "cell"_a, "progress"_a.none(),
          "Run PHOLD; times in ps. The answer has what the run counted, seconds, and a digest of all states.");
}

}  // namespace idlewave
