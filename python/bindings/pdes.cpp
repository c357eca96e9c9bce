#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

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

struct EpidemicResult {
    RunReport run;
    std::vector<models::EpidemicDay> days;
};

struct FloodResult {
    RunReport run;
    std::array<models::FloodTotals, models::Flood::classes> totals;
};

RunReport run_phold(const models::PholdParameters& parameters, const pdes::RunConfiguration& configuration) {
    const auto ignore = [](std::uint32_t /*lp*/, const models::Phold::State& /*state*/) {};
    pdes::RunResult run = parameters.conservative > 0
                              ? pdes::run_model(models::MixedPhold(parameters), configuration, ignore)
                              : pdes::run_model(models::Phold(parameters), configuration, ignore);
    return report_of(std::move(run.statistics), run.digest, configuration.transport);
}

EpidemicResult run_epidemic(const models::EpidemicParameters& parameters, const pdes::RunConfiguration& configuration) {
    models::EpidemicCurve curve(static_cast<std::uint32_t>(parameters.end / models::EpidemicParameters::day));
    pdes::RunResult run =
        pdes::run_model(models::Epidemic(parameters), configuration,
                        [&](std::uint32_t /*lp*/, const models::Epidemic::State& person) { curve.add(person); });
    EpidemicResult result;
    result.days = curve.days();
    std::vector<std::uint64_t> counts;
    for (const models::EpidemicDay& day : result.days) {
        counts.insert(counts.end(), {day.susceptible, day.exposed, day.infectious, day.recovered, day.immune});
    }
    pdes::sum_over_processes(counts, configuration.transport);
    auto count = counts.begin();
    for (models::EpidemicDay& day : result.days) {
        for (std::uint64_t* sum : {&day.susceptible, &day.exposed, &day.infectious, &day.recovered, &day.immune}) {
            *sum = *count++;
        }
    }
    result.run = report_of(std::move(run.statistics), run.digest, configuration.transport);
    return result;
}

FloodResult run_flood(const models::FloodParameters& parameters, const pdes::RunConfiguration& configuration) {
    const models::Flood flood(parameters);
    FloodResult result;
    pdes::RunResult run =
        pdes::run_model(flood, configuration, [&](std::uint32_t lp, const models::Flood::State& state) {
            for (std::size_t of = 0; of < result.totals.size(); ++of) {
                result.totals[of].add(flood, lp, state.counts[of]);
            }
        });
    for (models::FloodTotals& of : result.totals) {
        std::array<std::uint64_t, 5> counts{of.sent, of.delivered, of.lost, static_cast<std::uint64_t>(of.waited),
                                            static_cast<std::uint64_t>(of.delay)};
        pdes::sum_over_processes(counts, configuration.transport);
        of = {.sent = counts[0],
              .delivered = counts[1],
              .lost = counts[2],
              .waited = static_cast<Time>(counts[3]),
              .delay = static_cast<Time>(counts[4])};
    }
    result.run = report_of(std::move(run.statistics), run.digest, configuration.transport);
    return result;
}

/// Binds a struct of parameters with the fields that it lists, so that a new field needs no line here.
template <class Parameters>
nb::class_<Parameters> bind_parameters(nb::module_& m, const char* name, const char* text) {
    nb::class_<Parameters> bound(m, name, text);
    bound.def(nb::init<>());
    std::apply([&bound](const auto&... field) { (bound.def_rw(field.first, field.second), ...); },
               Parameters::fields());
    return bound;
}

/// Binds the function that runs a model. Other threads of Python run meanwhile.
template <class Parameters, class Result>
void bind_model(nb::module_& m, const char* name, const char* text,
                Result (*run)(const Parameters&, const pdes::RunConfiguration&)) {
    m.def(
        name,
        [run](const Parameters& parameters, const pdes::RunConfiguration& configuration, const nb::object& progress,
              const Transport* transport) {
            const pdes::RunConfiguration whole = configured(configuration, progress, transport);
            const nb::gil_scoped_release released;
            return run(parameters, whole);
        },
        "parameters"_a, "configuration"_a, "progress"_a.none(), "transport"_a.none(), text);
}

void bind_phold(nb::module_& m) {
    bind_parameters<models::PholdParameters>(m, "PholdParameters",
                                             "The parameters of PHOLD; times in millionths of a unit.");
    bind_model(m, "phold", "Run PHOLD.", &run_phold);
}

void bind_epidemic(nb::module_& m) {
    bind_parameters<models::CityParameters>(m, "CityParameters", "The size of a city.");
    bind_parameters<models::Interventions>(m, "Interventions", "Interventions against an epidemic; times in s.");
    bind_parameters<models::EpidemicParameters>(m, "EpidemicParameters", "The parameters of an epidemic; times in s.")
        .def_rw("city", &models::EpidemicParameters::city)
        .def_rw("interventions", &models::EpidemicParameters::interventions);
    nb::class_<models::EpidemicDay>(m, "EpidemicDay", "The number of persons in each state when a day begins.")
        .def_ro("susceptible", &models::EpidemicDay::susceptible)
        .def_ro("exposed", &models::EpidemicDay::exposed)
        .def_ro("infectious", &models::EpidemicDay::infectious)
        .def_ro("recovered", &models::EpidemicDay::recovered)
        .def_ro("immune", &models::EpidemicDay::immune);
    nb::class_<EpidemicResult>(m, "EpidemicResult", "The days of an epidemic, and the statistics of the run.")
        .def_ro("run", &EpidemicResult::run)
        .def_ro("days", &EpidemicResult::days);
    bind_model(m, "epidemic", "Run an epidemic.", &run_epidemic);
}

void bind_flood(nb::module_& m) {
    nb::enum_<models::FloodParameters::Service>(m, "Service", "The distribution of a packet's time on a link.")
        .value("fixed", models::FloodParameters::Service::fixed)
        .value("exponential", models::FloodParameters::Service::exponential);
    bind_parameters<models::FloodParameters>(m, "FloodParameters", "The parameters of a flood; times in ps.");
    nb::class_<models::FloodTotals>(m, "FloodTotals", "Packets of a class in all; times in ps.")
        .def_ro("sent", &models::FloodTotals::sent)
        .def_ro("delivered", &models::FloodTotals::delivered)
        .def_ro("lost", &models::FloodTotals::lost)
        .def_ro("waited", &models::FloodTotals::waited)
        .def_ro("delay", &models::FloodTotals::delay);
    nb::class_<FloodResult>(m, "FloodResult", "The packets of each class, and the statistics of the run.")
        .def_ro("run", &FloodResult::run)
        .def_prop_ro("legitimate", [](const FloodResult& found) { return found.totals[models::Flood::legitimate]; })
        .def_prop_ro("attack", [](const FloodResult& found) { return found.totals[models::Flood::attack]; });
    bind_model(m, "flood", "Run a flood.", &run_flood);
}

}  // namespace

void bind_pdes(nb::module_& m) {
    bind_phold(m);
    bind_epidemic(m);
    bind_flood(m);
}

}  // namespace idlewave
