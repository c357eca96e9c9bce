#include "models/epidemic.hpp"

#include <string>

#include "base/error.hpp"

namespace idlewave::models {
namespace {

/// Longest mean that is accepted, s. The largest exponential sample is 37.4 times its mean, so the sum of three times
/// does not exceed an int64.
constexpr Time longest_mean = Time{1} << 50;

constexpr double all = 0x1p53;  ///< number of values of 53 random bits

void check_share(const char* name, double share) {
    const bool possible = share >= 0 && share <= 1;  // false for NaN, too
    if (!possible) {
        throw InputError(std::string("epidemic: ") + name + ": expected a share from 0 to 1, found " +
                         std::to_string(share));
    }
}

void check_rate(const char* name, double rate) {
    constexpr double most = 1e6;
    const bool possible = rate >= 0 && rate <= most;
    if (!possible) {
        throw InputError(std::string("epidemic: ") + name + ": expected 0 to 1e6 contacts a day, found " +
                         std::to_string(rate));
    }
}

void check_seconds(const char* name, Time time, Time least) {
    if (time < least || time > longest_mean) {
        throw InputError(std::string("epidemic: ") + name + ": expected from " + std::to_string(least) +
                         " s to 2^50 s, found " + std::to_string(time));
    }
}

void check(const Interventions& against) {
    check_share("vaccinated", against.vaccinated);
    check_share("isolated", against.isolated);
    check_seconds("isolated_after", against.isolated_after, 0);
    if (against.workplaces_close < 0 || against.workplaces_reopen < against.workplaces_close) {
        throw InputError(
            "epidemic: workplaces_close, workplaces_reopen: expected times from 0 on, the first not after the second");
    }
}

void check(const EpidemicParameters& epidemic) {
    check(epidemic.interventions);
    check_rate("home_contacts", epidemic.home_contacts);
    check_rate("work_contacts", epidemic.work_contacts);
    check_rate("travel_contacts", epidemic.travel_contacts);
    check_share("transmission", epidemic.transmission);
    check_seconds("latent", epidemic.latent, 0);
    check_seconds("infectious", epidemic.infectious, 1);
    check_seconds("contact", epidemic.contact, 1);
    check_seconds("end", epidemic.end, 0);
}

EpidemicParameters checked(const EpidemicParameters& parameters) {
    check(parameters);
    return parameters;
}

/// The entity of the random order of persons. Numbers of LPs have 32 bits, and the city has entities below this one, so
/// neither draws from it.
constexpr std::uint64_t order_entity = std::uint64_t{4} << 32;

}  // namespace

Epidemic::Epidemic(const EpidemicParameters& parameters)
    : parameters_(checked(parameters)),
      city_(parameters.city, parameters.seed),
      order_(parameters.city.persons, draws(parameters.seed, Stream::model, order_entity, 0)[0]),
      vaccinated_(static_cast<std::uint32_t>(parameters.interventions.vaccinated * parameters.city.persons)),
      isolated_below_(static_cast<std::uint64_t>(parameters.interventions.isolated * all)) {
    if (parameters.first_infectious > parameters.city.persons) {
        throw InputError("epidemic: first_infectious: expected at most as many as there are persons, found " +
                         std::to_string(parameters.first_infectious));
    }
    const double home = parameters.home_contacts;
    const double work = parameters.work_contacts;
    const double contacts = home + work + parameters.travel_contacts;
    mean_gap_ = static_cast<double>(EpidemicParameters::day) / (contacts * parameters.transmission);
    if (contacts > 0) {
        home_below_ = static_cast<std::uint64_t>(home / contacts * all);
        work_below_ = static_cast<std::uint64_t>((home + work) / contacts * all);
    }
}

}  // namespace idlewave::models
