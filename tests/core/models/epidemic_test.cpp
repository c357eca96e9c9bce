#include "models/epidemic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "models/epidemic_city.hpp"
#include "models/epidemic_curve.hpp"
#include "run_events.hpp"
#include "seir.hpp"
#include "trials.hpp"

namespace idlewave::models {
namespace {

using testing::conservative;
using testing::exposed_share;
using testing::infectious_share;
using testing::interleaved;
using testing::not_removed_share;
using testing::on_threads;
using testing::one_by_one;
using testing::partitioned;
using testing::Seir;
using testing::susceptible_share;
using testing::windowed;

constexpr Time day = EpidemicParameters::day;
/// The final states of all persons.
using Persons = testing::States<Epidemic>;

Persons run(const EpidemicParameters& parameters) {
    return windowed(Epidemic(parameters), 1);
}

/// The fields that all schedulers must agree on, person by person.
auto fates_of(const Persons& persons) {
    std::vector<std::tuple<std::uint64_t, std::uint64_t, Time, Time, Time, std::uint32_t>> fates;
    for (const Epidemic::State& p : persons) {
        fates.emplace_back(p.events.digest, p.events.count, p.exposed, p.infectious, p.recovered, p.infected_by);
    }
    return fates;
}

std::vector<EpidemicDay> curve_of(const Persons& persons, std::uint32_t last_day) {
    EpidemicCurve curve(last_day);
    for (const Epidemic::State& person : persons) {
        curve.add(person);
    }
    return curve.days();
}

std::uint64_t ever_infected(const Persons& persons) {
    std::uint64_t infected = 0;
    for (const Epidemic::State& person : persons) {
        infected += person.exposed != never ? 1 : 0;
    }
    return infected;
}

/// A well-mixed population: contacts with anybody only.
EpidemicParameters well_mixed(std::uint32_t persons, std::uint32_t first_infectious, std::uint64_t seed) {
    EpidemicParameters parameters;
    parameters.city.persons = persons;
    parameters.first_infectious = first_infectious;
    parameters.home_contacts = 0;
    parameters.work_contacts = 0;
    parameters.travel_contacts = 13;
    parameters.seed = seed;
    parameters.end = 400 * day;
    return parameters;
}

double reproduction_number(const EpidemicParameters& p) {
    const double contacts = p.home_contacts + p.work_contacts + p.travel_contacts;
    return contacts * p.transmission * static_cast<double>(p.infectious) / static_cast<double>(day);
}

double deviation(const Seir& limit, const Seir::Vector& weights, double share, double persons) {
    return (share - limit.mean(weights)) / std::sqrt(limit.variance(weights) / persons);
}

/// A normal number exceeds it once in 1.7 million. A curve has some 100 days, which depend on each other, so it has
/// fewer than 100 independent numbers.
constexpr double five_sigma = 5;

/// The largest deviation of the counts of a day. Counts below some ten persons are not normal, and are left out.
double largest_deviation(const Seir& limit, const EpidemicDay& today, double persons) {
    constexpr double few = 10;
    const auto [s, e, i, r, immune] = today;
    const auto share = [&](std::uint64_t count) { return static_cast<double>(count) / persons; };
    double largest = 0;
    for (const auto& [weights, count] :
         {std::pair{susceptible_share, s}, {exposed_share, e}, {infectious_share, i}, {not_removed_share, s + e + i}}) {
        if (limit.mean(weights) * persons >= few) {
            largest = std::max(largest, std::abs(deviation(limit, weights, share(count), persons)));
        }
    }
    return largest;
}

/// The share that is never infected: the root below `susceptible` of ln(s / susceptible) = R0 (s - 1 + immune) (W. O.
/// Kermack, A. G. McKendrick, 1927).
double final_susceptible(double r0, double susceptible, double immune) {
    double s = 0;
    for (int i = 0; i < 10'000; ++i) {
        s = susceptible * std::exp(r0 * (s - 1 + immune));
    }
    return s;
}

TEST(Epidemic, AWellMixedPopulationFollowsTheDifferentialEquations) {
    constexpr double persons = 100'000;
    for (const double transmission : {0.03, 0.05}) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            EpidemicParameters parameters = well_mixed(persons, 500, seed);
            parameters.transmission = transmission;
            const auto days = curve_of(run(parameters), 200);
            Seir limit(parameters, 0.995, 0.005);
            double largest = 0;
            for (std::uint32_t d = 1; d <= 200; ++d) {
                limit.next_day();
                largest = std::max(largest, largest_deviation(limit, days[d], persons));
            }
            EXPECT_LT(largest, five_sigma) << "seed " << seed << ", transmission " << transmission;
            RecordProperty("sigmas_" + std::to_string(transmission) + "_" + std::to_string(seed),
                           std::to_string(largest));
        }
    }
}

TEST(Epidemic, ItsFluctuationsAreThoseOfTheMarkovProcess) {
    constexpr double persons = 20'000;
    const auto runs = static_cast<double>(64 / testing::stride(4));
    const std::array<std::uint32_t, 4> moments{20, 40, 60, 300};
    std::map<std::uint32_t, double> sum;
    std::map<std::uint32_t, double> squares;
    for (std::uint64_t seed = 1; static_cast<double>(seed) <= runs; ++seed) {
        const EpidemicParameters parameters = well_mixed(persons, 200, seed);
        const auto days = curve_of(run(parameters), moments.back());
        Seir limit(parameters, 0.99, 0.01);
        for (std::uint32_t d = 1; d <= moments.back(); ++d) {
            limit.next_day();
            const double z =
                deviation(limit, susceptible_share, static_cast<double>(days[d].susceptible) / persons, persons);
            sum[d] += z;
            squares[d] += z * z;
        }
    }
    for (const std::uint32_t d : moments) {
        // The mean of n standard normal numbers has standard deviation 1 / sqrt(n), that of their squares sqrt(2 / n).
        RecordProperty("day_" + std::to_string(d),
                       std::to_string(sum[d] / runs) + " " + std::to_string(squares[d] / runs));
        EXPECT_NEAR(sum[d] / runs, 0, 4 / std::sqrt(runs)) << "day " << d;
        EXPECT_NEAR(squares[d] / runs, 1, 4 * std::sqrt(2.0 / runs)) << "day " << d;
    }
}

TEST(Epidemic, TheFinalSizeIsThatOfKermackAndMcKendrick) {
    constexpr double persons = 100'000;
    for (const double vaccinated : {0.0, 0.2, 0.5}) {
        EpidemicParameters parameters = well_mixed(persons, 1000, 7);
        parameters.interventions.vaccinated = vaccinated;
        const double susceptible = 0.99 - vaccinated;
        Seir limit(parameters, susceptible, 0.01);
        for (int d = 0; d < 400; ++d) {
            limit.next_day();
        }
        const double escape = final_susceptible(reproduction_number(parameters), susceptible, vaccinated);
        ASSERT_NEAR(limit.mean(susceptible_share), escape, 1e-4) << "the two formulas of this test agree";
        const auto last = curve_of(run(parameters), 400).back();
        EXPECT_EQ(last.immune, static_cast<std::uint64_t>(vaccinated * persons));
        EXPECT_EQ(last.exposed + last.infectious, 0U);
        const double share = static_cast<double>(last.susceptible) / persons;
        EXPECT_NEAR(share, escape, five_sigma * std::sqrt(limit.variance(susceptible_share) / persons));
        EXPECT_LT(five_sigma * std::sqrt(limit.variance(susceptible_share) / persons), 0.04)
            << "else the bound is too loose";
    }
}

TEST(Epidemic, IsolationOfAShareActsAsInTheDifferentialEquations) {
    constexpr double persons = 100'000;
    std::uint64_t before = static_cast<std::uint64_t>(persons) + 1;
    for (const double isolated : {0.0, 0.15, 0.3}) {
        EpidemicParameters parameters = well_mixed(persons, 1000, 11);
        parameters.interventions.isolated = isolated;
        const Persons all = run(parameters);
        const auto days = curve_of(all, 300);
        Seir limit(parameters, 0.99, 0.01);
        for (std::uint32_t d = 1; d <= 300; ++d) {
            limit.next_day();
            ASSERT_LT(largest_deviation(limit, days[d], persons), five_sigma) << "day " << d;
        }
        EXPECT_LT(ever_infected(all), before);
        before = ever_infected(all);
    }
}

TEST(Epidemic, ClosedWorkplacesActAsInTheDifferentialEquations) {
    constexpr std::uint32_t persons = 1 << 16;
    EpidemicParameters parameters = well_mixed(persons, 1 << 9, 5);
    parameters.city.working = 1;
    parameters.city.smallest_workplace = persons;  // all persons work at one workplace
    parameters.city.largest_workplace = persons;
    parameters.travel_contacts = 8;
    parameters.work_contacts = 12;
    parameters.interventions.workplaces_close = 30 * day;
    parameters.interventions.workplaces_reopen = 70 * day;
    const auto days = curve_of(run(parameters), 200);
    Seir limit(parameters, 1 - 1.0 / 128, 1.0 / 128);
    for (std::uint32_t d = 1; d <= 200; ++d) {
        const bool closed = d > 30 && d <= 70;
        limit.set_infection(parameters.transmission * (closed ? 8 : 20));
        limit.next_day();
        ASSERT_LT(largest_deviation(limit, days[d], persons), five_sigma) << "day " << d;
    }
}

TEST(Epidemic, InAHomeOfTwoTheSecondIsInfectedWithTheProbabilityOfTwoExponentialTimes) {
    EpidemicParameters parameters;
    parameters.city.persons = 100'000;
    parameters.city.home_sizes = {0, 1};
    parameters.first_infectious = 5000;
    parameters.work_contacts = 0;
    parameters.travel_contacts = 0;
    parameters.home_contacts = 8;
    const Persons persons = run(parameters);
    double pairs = 0;
    double infected = 0;
    for (std::uint32_t i = 0; i < persons.size(); i += 2) {
        const Epidemic::State& a = persons[i];
        const Epidemic::State& b = persons[i + 1];
        const bool one = (a.exposed == 0) != (b.exposed == 0);
        pairs += one ? 1 : 0;
        infected += one && a.exposed != never && b.exposed != never ? 1 : 0;
    }
    const double infection = 8 * parameters.transmission;
    const double recovery = static_cast<double>(day) / static_cast<double>(parameters.infectious);
    const double p = infection / (infection + recovery);
    EXPECT_GT(pairs, 4000);
    EXPECT_NEAR(infected / pairs, p, 4 * std::sqrt(p * (1 - p) / pairs)) << "binomial";
}

TEST(Epidemic, WithoutTravelItStaysInItsDistrictsAndWithoutWorkInItsHomes) {
    EpidemicParameters parameters;
    parameters.city.persons = 20'000;
    parameters.city.districts = 10;
    parameters.first_infectious = 5;
    parameters.travel_contacts = 0;
    parameters.work_contacts = 9;
    for (const double work : {9.0, 0.0}) {
        parameters.work_contacts = work;
        const Epidemic epidemic(parameters);
        const City& city = epidemic.city();
        const auto where = [&](std::uint32_t p) { return work > 0 ? city.district_of(p) : city.home_of(p).first; };
        const Persons persons = windowed(epidemic, 1);
        std::set<std::uint32_t> began;
        for (std::uint32_t p = 0; p < persons.size(); ++p) {
            if (persons[p].exposed == 0) {
                began.insert(where(p));
            }
        }
        std::set<std::uint32_t> reached;
        for (std::uint32_t p = 0; p < persons.size(); ++p) {
            if (persons[p].exposed != never) {
                reached.insert(where(p));
            }
        }
        EXPECT_EQ(reached, began);
        EXPECT_LE(began.size(), 5U);
        EXPECT_GT(ever_infected(persons), work > 0 ? 500U : 5U);
    }
}

TEST(Epidemic, EverybodyIsInfectedByAnInfectiousPersonOfTheSamePlace) {
    EpidemicParameters parameters;
    parameters.city.persons = 20'000;
    parameters.city.districts = 3;
    parameters.first_infectious = 20;
    parameters.transmission = 0.06;
    parameters.interventions = {0.1, 0.3, day, 20 * day, 40 * day};
    const Epidemic epidemic(parameters);
    const City& city = epidemic.city();
    const Persons persons = windowed(epidemic, 1);
    std::array<int, 3> at{};
    for (std::uint32_t p = 0; p < persons.size(); ++p) {
        const Epidemic::State& person = persons[p];
        if (person.exposed == never || person.infected_by == Epidemic::no_person) {
            ASSERT_TRUE(person.exposed == never || person.exposed == 0);
            continue;
        }
        const Epidemic::State& by = persons[person.infected_by];
        ++at[static_cast<std::size_t>(person.infected_at)];
        ASSERT_FALSE(person.immune);
        ASSERT_GE(person.exposed, by.infectious);
        ASSERT_LT(person.exposed, by.recovered);
        ASSERT_GE(person.infectious, person.exposed + parameters.contact);
        const bool isolated = by.isolates && person.exposed >= by.infectious + day;
        ASSERT_TRUE(person.infected_at == Epidemic::Setting::home || !isolated);
        if (person.infected_at == Epidemic::Setting::home) {
            ASSERT_EQ(city.home_of(p), city.home_of(person.infected_by));
        } else if (person.infected_at == Epidemic::Setting::work) {
            ASSERT_EQ(city.workplace_of(p), city.workplace_of(person.infected_by));
            ASSERT_EQ(city.district_of(p), city.district_of(person.infected_by));
            ASSERT_TRUE(person.exposed < 20 * day || person.exposed >= 40 * day);
        }
    }
    EXPECT_GT(at[0], 500);
    EXPECT_GT(at[1], 500);
    EXPECT_GT(at[2], 500);
}

TEST(Epidemic, InACityEachFurtherInterventionReducesTheInfections) {
    EpidemicParameters parameters;
    parameters.city.persons = 50'000;
    parameters.first_infectious = 100;
    const std::uint64_t nothing = ever_infected(run(parameters));
    parameters.interventions.workplaces_close = 20 * day;
    const std::uint64_t closed = ever_infected(run(parameters));
    parameters.interventions.isolated = 0.3;
    parameters.interventions.isolated_after = day;
    const std::uint64_t isolated = ever_infected(run(parameters));
    parameters.interventions.vaccinated = 0.3;
    const std::uint64_t vaccinated = ever_infected(run(parameters));
    EXPECT_LT(closed, nothing * 3 / 4);
    EXPECT_LT(isolated, closed * 3 / 4);
    EXPECT_LT(vaccinated, isolated * 3 / 4);
    EXPECT_GT(nothing, 15'000U);
    RecordProperty("infected", std::to_string(nothing) + " " + std::to_string(closed) + " " + std::to_string(isolated) +
                                   " " + std::to_string(vaccinated));
}

/// A fast epidemic of some days with all interventions.
EpidemicParameters fast(std::uint32_t persons, Time contact) {
    EpidemicParameters parameters;
    parameters.city.persons = persons;
    parameters.city.districts = 1 + persons / 100;
    parameters.first_infectious = 1 + persons / 100;
    parameters.transmission = 1;
    parameters.latent = day / 2;
    parameters.infectious = 2 * day;
    parameters.contact = contact;
    parameters.interventions = {0.05, 0.1, day / 2, 3 * day, 5 * day};
    parameters.end = 12 * day;
    return parameters;
}

TEST(Epidemic, GivesTheSameUnderAllSchedulersOnAnyNumberOfThreads) {
    for (const std::uint32_t persons : {1U, 30U, 3000U}) {
        const Epidemic epidemic(fast(persons, day / 8));
        const Persons one = one_by_one(epidemic);
        const auto fates = fates_of(one);
        EXPECT_GE(ever_infected(one), persons / 3);
        ASSERT_EQ(fates, fates_of(windowed(epidemic, 1)));
        ASSERT_EQ(fates, fates_of(windowed(epidemic, 2)));
        for (const std::uint32_t threads : {1U, 2U, 3U}) {
            const auto placement = pdes::Placement::block(persons, threads);
            const pdes::PartitionOptions options{.cell = epidemic.lookahead()};
            ASSERT_EQ(fates, fates_of(conservative(epidemic, placement, options, on_threads).states))
                << persons << " persons, " << threads << " threads";
            ASSERT_EQ(fates, fates_of(partitioned(epidemic, placement, options, on_threads).states))
                << persons << " persons, " << threads << " threads";
        }
    }
}

TEST(Epidemic, GivesTheSameWhenPartitionsRunFarAheadOfEachOther) {
    std::uint64_t rolled_back = 0;
    for (std::uint32_t count = 1; count <= 5; ++count) {
        for (const std::uint32_t persons : {40U, 4000U}) {
            const Epidemic epidemic(fast(persons, day / 48));
            const auto fates = fates_of(one_by_one(epidemic));
            for (const auto& placement :
                 {pdes::Placement::block(persons, count), pdes::Placement::cyclic(persons, count)}) {
                const auto found =
                    partitioned(epidemic, placement, {.cell = epidemic.lookahead()}, interleaved(count, count));
                rolled_back += found.statistics.rolled_back;
                ASSERT_EQ(fates, fates_of(found.states)) << persons << " persons, " << count << " partitions";
            }
        }
    }
    EXPECT_GT(rolled_back, 1000U) << "else the test has no rollbacks";
}

TEST(Epidemic, TheResultDependsOnTheSeed) {
    EpidemicParameters parameters;
    parameters.city.persons = 1000;
    parameters.seed = 1;
    const auto one = fates_of(run(parameters));
    EXPECT_EQ(one, fates_of(run(parameters)));
    parameters.seed = 2;
    EXPECT_NE(one, fates_of(run(parameters)));
}

TEST(EpidemicCurve, CountsThePersonsOfEachCompartmentAtTheBeginningOfADay) {
    EpidemicParameters parameters;
    parameters.city.persons = 2000;
    parameters.first_infectious = 20;
    parameters.interventions.vaccinated = 0.1;
    Persons persons = run(parameters);
    Epidemic::State on_the_hour;
    on_the_hour.exposed = 3 * day;
    on_the_hour.infectious = 3 * day;
    on_the_hour.recovered = 4 * day;
    persons.push_back(on_the_hour);
    const auto days = curve_of(persons, 60);
    ASSERT_EQ(days.size(), 61U);
    for (std::uint32_t d = 0; d <= 60; ++d) {
        EpidemicDay slow;
        for (const Epidemic::State& p : persons) {
            const Time now = d * day;
            (p.immune             ? slow.immune
             : p.exposed > now    ? slow.susceptible
             : p.infectious > now ? slow.exposed
             : p.recovered > now  ? slow.infectious
                                  : slow.recovered) += 1;
        }
        EXPECT_EQ(days[d], slow) << "day " << d;
    }
    EXPECT_EQ(days[0].infectious, 20U);
}

TEST(Epidemic, RefusesImpossibleParametersAndSaysWhy) {
    const auto message = [](auto change) -> std::string {
        EpidemicParameters parameters;
        change(parameters);
        try {
            const Epidemic epidemic(parameters);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    const auto says = [&](auto change, const std::string& what) {
        EXPECT_NE(message(change).find(what), std::string::npos) << message(change) << " lacks " << what;
    };
    using P = EpidemicParameters;
    EXPECT_EQ(message([](P&) {}), "");
    says([](P& p) { p.city.persons = 0; }, "persons: expected at least 1");
    says([](P& p) { p.city.districts = 0; }, "districts: expected 1 to");
    says([](P& p) { p.city.working = 1.5; }, "working: expected a share from 0 to 1");
    says([](P& p) { p.city.working = std::nan(""); }, "working: expected a share");
    says([](P& p) { p.city.home_sizes = {}; }, "home_sizes: expected at least one share above 0");
    says([](P& p) { p.city.home_sizes[2] = -1; }, "home_sizes: expected shares from 0");
    says([](P& p) { p.city.largest_workplace = 100; }, "expected powers of two");
    says([](P& p) { p.city.smallest_workplace = 1024; }, "the smallest first");
    says([](P& p) { p.transmission = 2; }, "transmission: expected a share");
    says([](P& p) { p.work_contacts = -1; }, "work_contacts: expected 0 to 1e6 contacts a day");
    says([](P& p) { p.contact = 0; }, "contact: expected from 1 s");
    says([](P& p) { p.infectious = 0; }, "infectious: expected from 1 s");
    says([](P& p) { p.latent = never; }, "latent: expected from 0 s to 2^50 s");
    says([](P& p) { p.end = -1; }, "end: expected from 0 s");
    says([](P& p) { p.first_infectious = 100'001; }, "first_infectious: expected at most as many");
    says([](P& p) { p.interventions.vaccinated = -0.1; }, "vaccinated: expected a share");
    says([](P& p) { p.interventions.isolated = 1.1; }, "isolated: expected a share");
    says([](P& p) { p.interventions.isolated_after = -1; }, "isolated_after: expected from 0 s");
    says([](P& p) { p.interventions.workplaces_reopen = 5; }, "the first not after the second");
}

}  // namespace
}  // namespace idlewave::models
