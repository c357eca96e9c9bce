#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/elementary.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "models/epidemic_city.hpp"

namespace idlewave {

/// What is done against an epidemic.
struct Interventions {
    double vaccinated = 0;           ///< the share of persons that are immune from the beginning
    double isolated = 0;             ///< the share of the infected that meet nobody outside their homes, ...
    Time isolated_after = 0;         ///< ... once they have been infectious for so long, s
    Time workplaces_close = never;   ///< nobody meets colleagues from then on, s, ...
    Time workplaces_reopen = never;  ///< ... until then
};

/// An epidemic in a city, after the structure of N. M. Ferguson et al.: Strategies for mitigating an influenza
/// pandemic, Nature 442, 2006: contacts at home, at work or school, and anywhere. Times are whole SECONDS here (the
/// kernel does not mind). By default there are 13 contacts a day, about as J. Mossong et al. (PLoS Medicine 5(3), 2008)
/// found, a third of each kind; the periods are those of I. M. Longini et al. (Am. J. Epidemiol. 159, 2004); and in a
/// city that is well mixed the first person would infect 2.1 others (R0): in this one less, since homes and places of
/// work soon hold few who can still be infected, and some live alone or do not work.
struct EpidemicParameters {
    static constexpr Time day = 86'400;  ///< s

    CityParameters city;
    Interventions interventions;
    double home_contacts = 4;             ///< a day and person, with those of the same home
    double work_contacts = 4.5;           ///< a day and person, with those of the same place of work
    double travel_contacts = 4.5;         ///< a day and person, with anybody
    double transmission = 0.04;           ///< the probability that a contact with an infectious person infects
    Time latent = 164'160;                ///< mean of the exponential time from exposed to infectious, s: 1.9 days
    Time infectious = 354'240;            ///< mean of the exponential time from infectious to recovered, s: 4.1 days
    Time contact = 900;                   ///< how long a contact takes, s: the lookahead
    std::uint32_t first_infectious = 10;  ///< persons anywhere who are infectious at time 0
    Time end = 180 * day;                 ///< no contact begins then or later, s
    std::uint64_t seed = 1;
};

/// Persons are LPs. All are susceptible (S) until they are exposed (E), become infectious (I), and are removed (R). An
/// infectious person has the contacts that infect, a Poisson process (those that do not infect are thinned out of it,
/// which leaves one); with somebody of its home, its place of work, or the city, to whom it sends an event.
///
/// The event comes when the contact ends, after `contact`, and the infection is dated back to when it began: since all
/// contacts take the same time, persons are infected in the right order, by the right ones, at the right times. What
/// it changes is only that nobody is infectious before the contact ends at which he was infected: the mean latent
/// period L grows to d + L exp(-d / L), which is L + d^2 / 2 L for contacts of d: of 1.9 days by 2.5 s, or 2e-5.
class Epidemic {
  public:
    static constexpr std::uint32_t nobody = 0xffffffff;

    enum class Place : std::uint16_t { home, work, travel };

    struct State {
        Time exposed = never;  ///< when: with the next two, also if it is after the end
        Time infectious = never;
        Time recovered = never;
        std::uint64_t handled = 0;
        std::uint64_t digest = 0;  ///< of when it handled what, in that order
        std::uint32_t infected_by = nobody;
        Place infected_at = Place::home;  ///< if somebody has infected it
        bool immune = false;              ///< vaccinated
        bool isolates = false;
    };

    enum class What : std::uint16_t { meets, is_exposed };

    struct Payload {
        std::uint32_t by = nobody;
        What what = What::meets;
        Place place = Place::home;

        bool operator==(const Payload&) const = default;
    };

    /// No padding: the kernel may compare them byte by byte.
    static_assert(std::has_unique_object_representations_v<State> && std::has_unique_object_representations_v<Payload>);

    /// Throws InputError.
    explicit Epidemic(const EpidemicParameters& parameters);

    [[nodiscard]] std::uint32_t lps() const { return city_.persons(); }
    [[nodiscard]] Time lookahead() const { return parameters_.contact; }
    [[nodiscard]] std::uint64_t seed() const { return parameters_.seed; }
    [[nodiscard]] const City& city() const { return city_; }

    template <class Context>
    void start(State& state, Context& context) const {
        const std::uint32_t order = first_.forward(context.self());
        state.immune = order >= parameters_.first_infectious && order - parameters_.first_infectious < vaccinated_;
        if (order < parameters_.first_infectious) {
            state.exposed = 0;
            fall_ill(state, 0, context);
        }
    }

    template <class Context>
    void handle(State& state, const Payload& payload, Context& context) const {
        note(state, payload, context.now());
        if (payload.what == What::meets) {
            meet(state, context);
        } else if (state.exposed == never && !state.immune) {
            state.exposed = context.now() - parameters_.contact;
            state.infected_by = payload.by;
            state.infected_at = payload.place;
            fall_ill(state, parameters_.latent, context);
        }
    }

  private:
    /// The course of the illness of a person that has just been exposed.
    template <class Context>
    void fall_ill(State& state, Time latent, Context& context) const {
        const Philox bits = context.random_bits();
        state.infectious = std::max(context.now(), state.exposed + time_of_mean(latent, bits[0]));
        state.recovered = state.infectious + time_of_mean(parameters_.infectious, bits[1]);
        state.isolates = bits[2] >> 11 < isolated_below_;
        meet_next(state, state.infectious, bits[3], context);
    }

    /// A contact that infects whom it is with, if it takes place and he can be infected.
    template <class Context>
    void meet(State& state, Context& context) const {
        const Philox bits = context.random_bits();
        const Place place = place_of(bits[0]);
        if (takes_place(state, place, context.now())) {
            const std::uint32_t partner = partner_of(context.self(), place, bits[1]);
            if (partner != context.self()) {
                context.send(partner, parameters_.contact, {context.self(), What::is_exposed, place});
            }
        }
        meet_next(state, context.now(), bits[2], context);
    }

    /// The first contact after `from`, unless the person has recovered before.
    template <class Context>
    void meet_next(const State& state, Time from, std::uint64_t bits, Context& context) const {
        const Time until = std::min(state.recovered, parameters_.end);
        const double gap = -natural_logarithm(between_0_and_1(bits)) * mean_gap_;  // infinite without contacts
        if (gap < static_cast<double>(until - from)) {
            const Time next = from + static_cast<Time>(gap);
            context.send(context.self(), next - context.now(), {});
        }
    }

    [[nodiscard]] Place place_of(std::uint64_t bits) const {
        const std::uint64_t sample = bits >> 11;
        if (sample < home_below_) {
            return Place::home;
        }
        return sample < work_below_ ? Place::work : Place::travel;
    }

    [[nodiscard]] bool takes_place(const State& state, Place place, Time now) const {
        const Interventions& against = parameters_.interventions;
        const bool at_home = state.isolates && now >= state.infectious + against.isolated_after;
        const bool closed = now >= against.workplaces_close && now < against.workplaces_reopen;
        return place == Place::home || (!at_home && (place == Place::travel || !closed));
    }

    [[nodiscard]] std::uint32_t partner_of(std::uint32_t person, Place place, std::uint64_t bits) const {
        switch (place) {
            case Place::home:
                return city_.home_mate(person, bits);
            case Place::work:
                return city_.colleague(person, bits);
            default:
                return city_.anybody(bits);
        }
    }

    [[nodiscard]] static Time time_of_mean(Time mean, std::uint64_t bits) {
        return static_cast<Time>(-natural_logarithm(between_0_and_1(bits)) * static_cast<double>(mean));
    }

    static void note(State& state, const Payload& payload, Time now) {
        ++state.handled;
        const std::uint64_t word = static_cast<std::uint64_t>(now) << 24 ^ payload.by;
        state.digest = (state.digest ^ word) * 0x9e3779b97f4a7c15U;
        state.digest ^= state.digest >> 32;
    }

    EpidemicParameters parameters_;
    City city_;
    Permutation first_;             ///< who is infectious at first, and after those who is vaccinated
    std::uint32_t vaccinated_ = 0;  ///< persons
    double mean_gap_ = 0;           ///< between contacts that infect, s
    std::uint64_t home_below_ = 0;  ///< in units of 2^-53: such a contact is at home
    std::uint64_t work_below_ = 0;  ///< at home or at work
    std::uint64_t isolated_below_ = 0;
};

}  // namespace idlewave
