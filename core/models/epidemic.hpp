#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/elementary.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "models/epidemic_city.hpp"
#include "models/event_digest.hpp"

namespace idlewave::models {

/// Measures against an epidemic.
struct Interventions {
    double vaccinated = 0;           ///< share of persons that are immune from the beginning
    double isolated = 0;             ///< share of the infected that isolate: they have contacts at home only
    Time isolated_after = 0;         ///< time from becoming infectious to isolation, s
    Time workplaces_close = never;   ///< when workplaces close, s: there are no contacts at work from then on
    Time workplaces_reopen = never;  ///< when workplaces reopen, s

    /// The fields by name.
    static constexpr auto fields() {
        using P = Interventions;
        return std::tuple{std::pair{"vaccinated", &P::vaccinated}, std::pair{"isolated", &P::isolated},
                          std::pair{"isolated_after", &P::isolated_after},
                          std::pair{"workplaces_close", &P::workplaces_close},
                          std::pair{"workplaces_reopen", &P::workplaces_reopen}};
    }
};

/// An epidemic in a city, after the structure of N. M. Ferguson et al.: Strategies for mitigating an influenza
/// pandemic, Nature 442, 2006: contacts at home, at work or school, and anywhere. Times are whole SECONDS here; the
/// kernel accepts any unit.
///
/// By default a person has 13 contacts a day, about as many as J. Mossong et al. (PLoS Medicine 5(3), 2008) found, a
/// third of each kind. The periods are those of I. M. Longini et al. (Am. J. Epidemiol. 159, 2004). In a well-mixed
/// city the basic reproduction number R0 would be 2.1. In this city it is less, since homes and workplaces soon have
/// few susceptible persons, and some persons live alone or do not work.
struct EpidemicParameters {
    static constexpr Time day = 86'400;  ///< s

    CityParameters city;
    Interventions interventions;
    double home_contacts = 4;             ///< contacts per day and person with others of the same home
    double work_contacts = 4.5;           ///< contacts per day and person with others of the same workplace
    double travel_contacts = 4.5;         ///< contacts per day and person with anybody
    double transmission = 0.04;           ///< probability that a contact with an infectious person infects
    Time latent = 164'160;                ///< mean of the exponential time from exposed to infectious, s: 1.9 days
    Time infectious = 354'240;            ///< mean of the exponential time from infectious to recovered, s: 4.1 days
    Time contact = 900;                   ///< duration of a contact, s: the lookahead
    std::uint32_t first_infectious = 10;  ///< random persons who are infectious at time 0
    Time end = 180 * day;                 ///< no contact begins then or later, s
    std::uint64_t seed = 1;

    /// The fields by name.
    static constexpr auto fields() {
        using P = EpidemicParameters;
        return std::tuple{std::pair{"home_contacts", &P::home_contacts},
                          std::pair{"work_contacts", &P::work_contacts},
                          std::pair{"travel_contacts", &P::travel_contacts},
                          std::pair{"transmission", &P::transmission},
                          std::pair{"latent", &P::latent},
                          std::pair{"infectious", &P::infectious},
                          std::pair{"contact", &P::contact},
                          std::pair{"first_infectious", &P::first_infectious},
                          std::pair{"end", &P::end},
                          std::pair{"seed", &P::seed}};
    }
};

/// Persons are LPs. A person is susceptible (S), then exposed (E), then infectious (I), then recovered (R). An
/// infectious person has contacts with persons of its home, its workplace or the city, and sends each of them an event.
/// Only the contacts that infect are simulated: they are a Poisson process, too (thinning).
///
/// The event arrives when the contact ends, and the infection is dated back to the beginning of the contact. All
/// contacts have the same duration d, so the order, the sources and the times of infections are right. There is one
/// deviation: nobody is infectious before the end of the contact that infected him. The mean latent period L grows to
/// d + L exp(-d / L), about L + d^2 / 2 L: 1.9 days grow by 2.5 s, or 2e-5.
class Epidemic {
  public:
    static constexpr bool needs_lookahead = true;
    static constexpr std::string_view time_unit = "s";

    static constexpr std::uint32_t no_person = 0xffffffff;

    enum class Setting : std::uint16_t { home, work, travel };

    struct State {
        Time exposed = never;     ///< when the person became exposed
        Time infectious = never;  ///< when it becomes infectious, which may lie after the end
        Time recovered = never;   ///< when it recovers, which may lie after the end
        EventDigest events;       ///< those that the person has handled
        std::uint32_t infected_by = no_person;
        Setting infected_at = Setting::home;  ///< where; of a person that was infected by another one
        bool immune = false;                  ///< vaccinated
        bool isolates = false;                ///< while it is ill
    };

    /// A person has its next contact, or was exposed at a contact.
    enum class EventKind : std::uint16_t { contact, exposure };

    struct Payload {
        std::uint32_t infected_by = no_person;
        EventKind kind = EventKind::contact;
        Setting setting = Setting::home;

        bool operator==(const Payload&) const = default;
    };

    /// The scheduler `check` compares states byte by byte, so they have no padding.
    static_assert(std::has_unique_object_representations_v<State> && std::has_unique_object_representations_v<Payload>);

    /// Throws InputError.
    explicit Epidemic(const EpidemicParameters& parameters);

    [[nodiscard]] std::uint32_t lps() const { return city_.persons(); }
    [[nodiscard]] Time lookahead() const { return parameters_.contact; }
    [[nodiscard]] std::uint64_t seed() const { return parameters_.seed; }
    /// What a person adds to the digest of a run.
    [[nodiscard]] static std::uint64_t digest(std::uint32_t person, const State& state) {
        return state.events.of_lp(person);
    }
    [[nodiscard]] const City& city() const { return city_; }

    template <class Context>
    void start(State& state, Context& context) const {
        const std::uint32_t order = order_.forward(context.self());
        state.immune = order >= parameters_.first_infectious && order - parameters_.first_infectious < vaccinated_;
        if (order < parameters_.first_infectious) {
            state.exposed = 0;
            draw_course(state, 0, context);
        }
    }

    template <class Context>
    void handle(State& state, const Payload& payload, Context& context) const {
        state.events.add(static_cast<std::uint64_t>(context.now()) << 24 ^ payload.infected_by);
        if (payload.kind == EventKind::contact) {
            have_contact(state, context);
        } else if (state.exposed == never && !state.immune) {
            state.exposed = context.now() - parameters_.contact;
            state.infected_by = payload.infected_by;
            state.infected_at = payload.setting;
            draw_course(state, parameters_.latent, context);
        }
    }

  private:
    /// Draws the course of the illness of a person that has just been exposed.
    template <class Context>
    void draw_course(State& state, Time latent, Context& context) const {
        const Philox bits = context.random_bits();
        state.infectious = std::max(context.now(), state.exposed + exponential_time(latent, bits[0]));
        state.recovered = state.infectious + exponential_time(parameters_.infectious, bits[1]);
        state.isolates = bits[2] >> 11 < isolated_below_;
        schedule_contact(state, state.infectious, bits[3], context);
    }

    /// Has a contact, unless an intervention prevents it, and schedules the next one.
    template <class Context>
    void have_contact(State& state, Context& context) const {
        const Philox bits = context.random_bits();
        const Setting setting = setting_of(bits[0]);
        if (contact_happens(state, setting, context.now())) {
            const std::uint32_t partner = partner_of(context.self(), setting, bits[1]);
            if (partner != context.self()) {
                context.send(partner, parameters_.contact, {context.self(), EventKind::exposure, setting});
            }
        }
        schedule_contact(state, context.now(), bits[2], context);
    }

    /// Schedules the first contact after `from`, unless the person recovers before it.
    template <class Context>
    void schedule_contact(const State& state, Time from, std::uint64_t bits, Context& context) const {
        const Time until = std::min(state.recovered, parameters_.end);
        const double gap = -natural_logarithm(between_0_and_1(bits)) * mean_gap_;  // infinite without contacts
        if (gap < static_cast<double>(until - from)) {
            const Time next = from + static_cast<Time>(gap);
            context.send(context.self(), next - context.now(), {});
        }
    }

    [[nodiscard]] Setting setting_of(std::uint64_t bits) const {
        const std::uint64_t sample = bits >> 11;
        if (sample < home_below_) {
            return Setting::home;
        }
        return sample < work_below_ ? Setting::work : Setting::travel;
    }

    [[nodiscard]] bool contact_happens(const State& state, Setting setting, Time now) const {
        const Interventions& against = parameters_.interventions;
        const bool at_home = state.isolates && now >= state.infectious + against.isolated_after;
        const bool closed = now >= against.workplaces_close && now < against.workplaces_reopen;
        return setting == Setting::home || (!at_home && (setting == Setting::travel || !closed));
    }

    [[nodiscard]] std::uint32_t partner_of(std::uint32_t person, Setting setting, std::uint64_t bits) const {
        switch (setting) {
            case Setting::home:
                return city_.home_mate(person, bits);
            case Setting::work:
                return city_.colleague(person, bits);
            default:
                return city_.anybody(bits);
        }
    }

    [[nodiscard]] static Time exponential_time(Time mean, std::uint64_t bits) {
        return static_cast<Time>(-natural_logarithm(between_0_and_1(bits)) * static_cast<double>(mean));
    }

    EpidemicParameters parameters_;
    City city_;
    Permutation order_;  ///< a random order of persons: the first ones are infectious at time 0, the next vaccinated
    std::uint32_t vaccinated_ = 0;      ///< number of persons
    double mean_gap_ = 0;               ///< mean time between two contacts that infect, s
    std::uint64_t home_below_ = 0;      ///< probability that a contact is at home, in units of 2^-53
    std::uint64_t work_below_ = 0;      ///< probability that it is at home or at work, in units of 2^-53
    std::uint64_t isolated_below_ = 0;  ///< probability that a person isolates, in units of 2^-53
};

}  // namespace idlewave::models
