#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <vector>

#include "base/memory.hpp"
#include "bindings.hpp"
#include "kernel_run.hpp"
#include "models/epidemic.hpp"
#include "models/epidemic_curve.hpp"
#include "models/flood.hpp"
#include "models/phold.hpp"
#include "pdes/exchange.hpp"
#include "pdes/run_model.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

nb::list list_of(const std::vector<std::uint64_t>& values, std::size_t first, std::size_t step) {
    nb::list list;
    for (std::size_t i = first; i < values.size(); i += step) {
        list.append(values[i]);
    }
    return list;
}

nb::dict run_phold(const nb::dict& given, const pdes::RunConfiguration& configuration) {
    const PholdParameters parameters{.lps = get<std::uint32_t>(given, "lps"),
                                     .start_events = get<std::uint32_t>(given, "start_events"),
                                     .remote = get<double>(given, "remote"),
                                     .mean = get<Time>(given, "mean"),
                                     .lookahead = get<Time>(given, "lookahead"),
                                     .end = get<Time>(given, "end"),
                                     .seed = get<std::uint64_t>(given, "seed")};
    pdes::RunResult run;
    {
        const auto conservative = get<double>(given, "conservative");
        const auto ignore = [](std::uint32_t /*lp*/, const Phold::State& /*state*/) {};
        const nb::gil_scoped_release released;
        run = conservative > 0 ? pdes::run_model(MixedPhold(parameters, conservative), configuration, ignore)
                               : pdes::run_model(Phold(parameters), configuration, ignore);
    }
    nb::dict answer;
    answer["run"] = counts_of(run.statistics, run.digest, configuration.transport);
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

nb::dict run_epidemic(const nb::dict& given, const pdes::RunConfiguration& configuration) {
    const EpidemicParameters parameters = epidemic_of(given);
    constexpr std::size_t kinds = 5;
    std::vector<std::uint64_t> counts;
    pdes::RunResult run;
    {
        const nb::gil_scoped_release released;
        EpidemicCurve curve(static_cast<std::uint32_t>(parameters.end / EpidemicParameters::day));
        run = pdes::run_model(Epidemic(parameters), configuration,
                              [&](std::uint32_t /*lp*/, const Epidemic::State& person) { curve.add(person); });
        for (const EpidemicDay& day : curve.days()) {
            counts.insert(counts.end(), {day.susceptible, day.exposed, day.infectious, day.recovered, day.immune});
        }
        pdes::sum_over_processes(counts, configuration.transport);
    }
    nb::dict answer;
    answer["run"] = counts_of(run.statistics, run.digest, configuration.transport);
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

nb::dict run_flood(const nb::dict& given, const pdes::RunConfiguration& configuration) {
    const FloodParameters parameters = flood_of(given);
    constexpr std::size_t kinds = 5;
    std::vector<std::uint64_t> counts;
    pdes::RunResult run;
    {
        const nb::gil_scoped_release released;
        const Flood flood(parameters);
        std::array<FloodTotals, Flood::classes> totals;
        run = pdes::run_model(flood, configuration, [&](std::uint32_t lp, const Flood::State& state) {
            for (std::size_t of = 0; of < totals.size(); ++of) {
                totals[of].add(flood, lp, state.counts[of]);
            }
        });
        for (const FloodTotals& of : totals) {
            counts.insert(counts.end(), {of.sent, of.delivered, of.lost, static_cast<std::uint64_t>(of.waited),
                                         static_cast<std::uint64_t>(of.delay)});
        }
        pdes::sum_over_processes(counts, configuration.transport);
    }
    nb::dict answer;
    answer["run"] = counts_of(run.statistics, run.digest, configuration.transport);
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
template <nb::dict (*run)(const nb::dict&, const pdes::RunConfiguration&)>
void bind_model(nb::module_& m, const char* name, const char* text) {
    m.def(
        name,
        [](const nb::dict& parameters, const nb::dict& configuration, const nb::object& progress,
           const Transport* transport) {
            return run(parameters, configuration_of(configuration, progress, transport));
        },
        "parameters"_a, "configuration"_a, "progress"_a.none(), "transport"_a.none(), text);
}

}  // namespace

void bind_pdes(nb::module_& m) {
    m.def("peak_memory", &peak_memory, "The most memory that this process has had, bytes.");
    nb::class_<Transport>(m, "Transport", "The transport to the other processes of a run, over MPI.")
        .def(nb::init<const std::string&>(), "library"_a,
             "Initialises MPI, with the library that was built with the site's MPI.")
        .def_prop_ro("process", &Transport::process, "The number of this process.")
        .def_prop_ro("processes", &Transport::processes, "How many there are.")
        .def("close", &Transport::close, "Finalises MPI, together with all processes.")
        .def("abort", &Transport::abort, "status"_a, "Ends all processes at once.");
    bind_model<run_phold>(m, "phold", "Run PHOLD; times in ps. `run` of the answer has what was counted.");
    bind_model<run_epidemic>(m, "epidemic", "Run an epidemic; times in s. `days` has how many are what each day.");
    bind_model<run_flood>(m, "flood", "Run a flood; times in ps. `packets` has legitimate and attack ones.");
}

}  // namespace idlewave
