#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bindings.hpp"
#include "models/epidemic.hpp"
#include "models/epidemic_curve.hpp"
#include "models/flood.hpp"
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

pdes::EventRunOptions options_of(const std::string& scheduler, std::uint32_t threads, const std::string& placement,
                                 bool lazy, const nb::object& progress, const Wire* wire) {
    const auto how = scheduler == "timewarp" ? pdes::Scheduler::timewarp
                     : scheduler == "yawns"  ? pdes::Scheduler::yawns
                     : scheduler == "check"  ? pdes::Scheduler::check
                                             : pdes::Scheduler::sequential;
    return {.scheduler = how,
            .deal = placement == "cyclic" ? pdes::Deal::cyclic : pdes::Deal::block,
            .lazy = lazy,
            .crew = {.threads = threads,
                     .wire = wire == nullptr ? nullptr : &wire->functions(),
                     .poll = Poll(progress)}};
}

void put_counts(nb::dict& answer, const pdes::EventRun& run) {
    const pdes::Statistics& counted = run.counted.statistics;
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
    counts["efficiency"] = counted.efficiency();
    counts["init_seconds"] = run.counted.init_seconds;
    counts["seconds"] = run.counted.seconds;
    counts["digest"] = run.digest;
    answer["run"] = counts;
}

/// A parameter by its name.
template <class T>
T get(const nb::dict& parameters, const char* name) {
    return nb::cast<T>(parameters[name]);
}

/// Sums of all processes, if there are others.
void add_up(std::vector<std::uint64_t>& values, const idlewave_wire* wire) {
    if (wire != nullptr && wire->sum(values.data(), static_cast<std::int32_t>(values.size())) != 0) {
        throw TransportError(wire->error_text());
    }
}

nb::list list_of(const std::vector<std::uint64_t>& values, std::size_t first, std::size_t step) {
    nb::list list;
    for (std::size_t i = first; i < values.size(); i += step) {
        list.append(values[i]);
    }
    return list;
}

nb::dict run_phold(const nb::dict& given, const pdes::EventRunOptions& options) {
    const PholdParameters parameters{.lps = get<std::uint32_t>(given, "lps"),
                                     .start_events = get<std::uint32_t>(given, "start_events"),
                                     .remote = get<double>(given, "remote"),
                                     .mean = get<Time>(given, "mean"),
                                     .lookahead = get<Time>(given, "lookahead"),
                                     .end = get<Time>(given, "end"),
                                     .seed = get<std::uint64_t>(given, "seed")};
    pdes::EventRun run;
    {
        const nb::gil_scoped_release released;
        run = pdes::run_events(Phold(parameters), options, [](std::uint32_t /*lp*/, const Phold::State& /*state*/) {});
    }
    nb::dict answer;
    put_counts(answer, run);
    return answer;
}

EpidemicParameters epidemic_of(const nb::dict& given) {
    EpidemicParameters parameters;
    parameters.city.persons = get<std::uint32_t>(given, "persons");
    parameters.city.districts = get<std::uint32_t>(given, "districts");
    parameters.home_contacts = get<double>(given, "home_contacts");
    parameters.work_contacts = get<double>(given, "work_contacts");
    parameters.travel_contacts = get<double>(given, "travel_contacts");
    parameters.transmission = get<double>(given, "transmission");
    parameters.latent = get<Time>(given, "latent");
    parameters.infectious = get<Time>(given, "infectious");
    parameters.contact = get<Time>(given, "contact");
    parameters.first_infectious = get<std::uint32_t>(given, "first_infectious");
    parameters.end = get<Time>(given, "end");
    parameters.seed = get<std::uint64_t>(given, "seed");
    Interventions& against = parameters.interventions;
    against.vaccinated = get<double>(given, "vaccinated");
    against.isolated = get<double>(given, "isolated");
    against.isolated_after = get<Time>(given, "isolated_after");
    against.workplaces_close = get<Time>(given, "workplaces_close");
    against.workplaces_reopen = get<Time>(given, "workplaces_reopen");
    return parameters;
}

nb::dict run_epidemic(const nb::dict& given, const pdes::EventRunOptions& options) {
    const EpidemicParameters parameters = epidemic_of(given);
    constexpr std::size_t kinds = 5;
    std::vector<std::uint64_t> counts;
    pdes::EventRun run;
    {
        const nb::gil_scoped_release released;
        EpidemicCurve curve(static_cast<std::uint32_t>(parameters.end / EpidemicParameters::day));
        run = pdes::run_events(Epidemic(parameters), options,
                               [&](std::uint32_t /*lp*/, const Epidemic::State& person) { curve.add(person); });
        for (const EpidemicDay& day : curve.days()) {
            counts.insert(counts.end(), {day.susceptible, day.exposed, day.infectious, day.recovered, day.immune});
        }
        add_up(counts, options.crew.wire);
    }
    nb::dict answer;
    put_counts(answer, run);
    nb::dict days;
    days["susceptible"] = list_of(counts, 0, kinds);
    days["exposed"] = list_of(counts, 1, kinds);
    days["infectious"] = list_of(counts, 2, kinds);
    days["recovered"] = list_of(counts, 3, kinds);
    days["immune"] = list_of(counts, 4, kinds);
    answer["days"] = days;
    return answer;
}

FloodParameters flood_of(const nb::dict& given) {
    FloodParameters parameters;
    parameters.routers = get<std::uint32_t>(given, "routers");
    parameters.hosts = get<std::uint32_t>(given, "hosts");
    parameters.bots = get<std::uint32_t>(given, "bots");
    parameters.link_delay = get<Time>(given, "link_delay");
    parameters.legitimate_gap = get<Time>(given, "legitimate_gap");
    parameters.attack_gap = get<Time>(given, "attack_gap");
    parameters.attack_from = get<Time>(given, "attack_from");
    parameters.attack_until = get<Time>(given, "attack_until");
    parameters.attack_size = get<double>(given, "attack_size");
    parameters.access_utilization = get<double>(given, "access_utilization");
    parameters.utilization = get<double>(given, "utilization");
    parameters.service =
        get<bool>(given, "exponential") ? FloodParameters::Service::exponential : FloodParameters::Service::fixed;
    parameters.buffer = get<std::uint32_t>(given, "buffer");
    parameters.measured_from = get<Time>(given, "measured_from");
    parameters.end = get<Time>(given, "end");
    parameters.seed = get<std::uint64_t>(given, "seed");
    return parameters;
}

nb::dict run_flood(const nb::dict& given, const pdes::EventRunOptions& options) {
    const FloodParameters parameters = flood_of(given);
    constexpr std::size_t kinds = 5;
    std::vector<std::uint64_t> counts;
    pdes::EventRun run;
    {
        const nb::gil_scoped_release released;
        const Flood flood(parameters);
        std::array<FloodTotals, Flood::classes> totals;
        run = pdes::run_events(flood, options, [&](std::uint32_t lp, const Flood::State& state) {
            for (std::size_t of = 0; of < totals.size(); ++of) {
                totals[of].add(flood, lp, state.counts[of]);
            }
        });
        for (const FloodTotals& of : totals) {
            counts.insert(counts.end(), {of.sent, of.delivered, of.lost, static_cast<std::uint64_t>(of.waited),
                                         static_cast<std::uint64_t>(of.delay)});
        }
        add_up(counts, options.crew.wire);
    }
    nb::dict answer;
    put_counts(answer, run);
    nb::dict packets;
    packets["sent"] = list_of(counts, 0, kinds);
    packets["delivered"] = list_of(counts, 1, kinds);
    packets["lost"] = list_of(counts, 2, kinds);
    packets["waited"] = list_of(counts, 3, kinds);
    packets["delay"] = list_of(counts, 4, kinds);
    answer["packets"] = packets;
    return answer;
}

/// A function of Python that runs a model: its parameters by name, and how to run it.
template <nb::dict (*run)(const nb::dict&, const pdes::EventRunOptions&)>
void bind_model(nb::module_& m, const char* name, const char* text) {
    m.def(
        name,
        [](const nb::dict& parameters, const std::string& scheduler, std::uint32_t threads,
           const std::string& placement, bool lazy, const nb::object& progress, const Wire* wire) {
            return run(parameters, options_of(scheduler, threads, placement, lazy, progress, wire));
        },
        "parameters"_a, "scheduler"_a, "threads"_a, "placement"_a, "lazy"_a, "progress"_a.none(), "wire"_a.none(),
        text);
}

}  // namespace

void bind_pdes(nb::module_& m) {
    nb::class_<Wire>(m, "Wire", "To the other processes of a run, by MPI, which this one begins.")
        .def(nb::init<const std::string&>(), "library"_a, "From the library that was built with the site's MPI.")
        .def_prop_ro("process", &Wire::process, "The number of this process.")
        .def_prop_ro("processes", &Wire::processes, "How many there are.")
        .def("close", &Wire::close, "Ends MPI, when all processes do.")
        .def("abort", &Wire::abort, "status"_a, "Ends all processes at once.");
    bind_model<run_phold>(m, "phold", "Run PHOLD; times in ps. `run` of the answer has what was counted.");
    bind_model<run_epidemic>(m, "epidemic", "Run an epidemic; times in s. `days` has how many are what each day.");
    bind_model<run_flood>(m, "flood", "Run a flood; times in ps. `packets` has legitimate and attack ones.");
}

}  // namespace idlewave
