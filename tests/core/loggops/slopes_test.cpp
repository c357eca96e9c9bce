#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/pattern.hpp"
#include "goal/goal_reader.hpp"
#include "loggops/differentiate.hpp"
#include "outcome.hpp"
#include "random_schedule.hpp"
#include "trials.hpp"

namespace idlewave::loggops {
namespace {

/// One way to change a machine by a little, and how much a time's slope says that the time changes.
struct Nudge {
    std::string name;
    void (*apply)(machine::Parameters&);
    std::uint64_t (*count)(const LevelSlopes&);
};

const std::vector<Nudge> nudges = {
    {"L", [](machine::Parameters& p) { ++p.L; }, [](const LevelSlopes& s) { return std::uint64_t{s.L}; }},
    {"o_s", [](machine::Parameters& p) { ++p.o_s; }, [](const LevelSlopes& s) { return std::uint64_t{s.o_s}; }},
    {"o_r", [](machine::Parameters& p) { ++p.o_r; }, [](const LevelSlopes& s) { return std::uint64_t{s.o_r}; }},
    {"o", [](machine::Parameters& p) { ++p.o_s, ++p.o_r; }, [](const LevelSlopes& s) { return std::uint64_t{s.o}; }},
    {"g", [](machine::Parameters& p) { ++p.g; }, [](const LevelSlopes& s) { return std::uint64_t{s.g}; }},
    {"c", [](machine::Parameters& p) { ++p.c; }, [](const LevelSlopes& s) { return std::uint64_t{s.c}; }},
    {"o_p", [](machine::Parameters& p) { ++p.o_p; }, [](const LevelSlopes& s) { return std::uint64_t{s.o_p}; }},
    {"G", [](machine::Parameters& p) { p.G += 1; }, [](const LevelSlopes& s) { return s.G; }},
    {"O_s", [](machine::Parameters& p) { p.O_s += 1; }, [](const LevelSlopes& s) { return s.O_s; }},
    {"O_r", [](machine::Parameters& p) { p.O_r += 1; }, [](const LevelSlopes& s) { return s.O_r; }},
    {"O", [](machine::Parameters& p) { p.O_s += 1, p.O_r += 1; }, [](const LevelSlopes& s) { return s.O; }},
};

machine::Level nudged(machine::Level level, const Nudge& nudge) {
    for (machine::Segment& segment : level.segments) {
        nudge.apply(segment.parameters);
    }
    return level;
}

/// Parameters of many digits, so that one ps more changes no order in which things happen.
machine::Parameters fine_parameters(testing::Dice& dice) {
    return {.L = dice.between(1'000'000, 40'000'000),
            .o_s = dice.between(1'000'000, 20'000'000),
            .o_r = dice.between(1'000'000, 20'000'000),
            .g = dice.between(1'000'000, 30'000'000),
            .G = static_cast<double>(dice.between(0, 900'000)),
            .O_s = static_cast<double>(dice.between(0, 900'000)),
            .O_r = static_cast<double>(dice.between(0, 900'000))};
}

machine::Level fine_level(testing::Dice& dice) {
    machine::Level level;
    level.segments[0].parameters = fine_parameters(dice);
    if (dice.one_in(3)) {
        level.segments.push_back({1 + dice.roll(20), fine_parameters(dice)});
    }
    level.S = dice.one_in(2) ? machine::Level::always_eager : dice.roll(30);
    return level;
}

/// Gives a level a parameter that most machines do not have.
void give(machine::Level& level, Time machine::Parameters::* parameter, testing::Dice& dice) {
    for (machine::Segment& segment : level.segments) {
        segment.parameters.*parameter = dice.between(1'000'000, 9'000'000);
    }
}

/// The levels of a machine by LevelKind, nullptr for those that it does not have.
std::array<machine::Level*, all_levels> levels_of(machine::Machine& machine) {
    const auto of = [](std::optional<machine::Level>& level) { return level ? &*level : nullptr; };
    return {&machine.network, of(machine.node), of(machine.shared_buffer)};
}

machine::Machine fine_machine(testing::Dice& dice) {
    machine::Machine machine;
    machine.network = fine_level(dice);
    if (dice.one_in(2)) {
        machine.node = fine_level(dice);
        machine.node_ranks = 1 + dice.small(3);
    }
    if (dice.one_in(2)) {
        machine.shared_buffer = fine_level(dice);
    }
    for (Time machine::Parameters::* added : {&machine::Parameters::c, &machine::Parameters::o_p}) {
        if (dice.one_in(3)) {
            for (machine::Level* level : levels_of(machine)) {
                if (level == nullptr || dice.one_in(3)) {
                    continue;
                }
                give(*level, added, dice);
            }
        }
    }
    if (dice.one_in(2)) {
        const Time period = dice.between(50'000'000, 400'000'000);
        std::vector<machine::Detour> detours;
        for (Time at = dice.between(0, 20'000'000); at < period - 30'000'000; at += dice.between(1, 60'000'000)) {
            detours.push_back({at, dice.between(1, 25'000'000)});
            at += detours.back().length;
        }
        machine.noise =
            machine::NoiseTrace(detours, period, dice.one_in(3) ? machine::Phase::same : machine::Phase::random);
        machine.noise_reach = {.o_s = !dice.one_in(3), .o_r = !dice.one_in(3), .O = !dice.one_in(3)};
    }
    return machine;
}

/// A rank's finish time, and what every way to differentiate says of it.
struct Sloped {
    Time time = 0;
    std::array<LevelSlopes, all_levels> levels = {};
    Time computation = 0;

    bool operator==(const Sloped&) const = default;
};

template <class Moment>
std::vector<Sloped> sloped(const std::vector<Moment>& finish) {
    std::vector<Sloped> all;
    for (const Moment& moment : finish) {
        Sloped& rank = all.emplace_back(Sloped{.time = time_of(moment), .computation = moment.computation()});
        rank.levels[0] = moment.level(0);
        if constexpr (!std::is_same_v<Moment, Slopes<1>> && !std::is_same_v<Moment, Slopes<1, false>>) {
            rank.levels[1] = moment.level(1);
            rank.levels[2] = moment.level(2);
        }
    }
    return all;
}

template <class S, class Observer>
std::vector<Sloped> slopes_of(const S& source, const machine::Machine& machine, Observer& observer,
                              std::uint32_t threads = 1) {
    return sloped(simulate(source, machine, {.seed = 3, .threads = threads, .poll = {}}, observer).finish);
}

template <class Observer, class S>
std::vector<Sloped> slopes_by(const S& source, const machine::Machine& machine, std::uint32_t threads = 1) {
    Observer observer;
    return slopes_of(source, machine, observer, threads);
}

template <class S>
std::vector<Time> times_of(const S& source, const machine::Machine& machine) {
    return simulate(source, machine, {.seed = 3, .threads = 1, .poll = {}}).finish;
}

/// How many of the slopes are not 0.
template <class Observer, class S>
std::uint64_t expect_true_slopes(const S& source, const machine::Machine& machine, const std::string& which) {
    const std::vector<Sloped> slopes = slopes_by<Observer>(source, machine);
    const std::vector<Time> before = times_of(source, machine);
    std::uint64_t found = 0;
    for (const machine::LevelKind kind : machine::level_kinds) {
        const auto level = static_cast<std::size_t>(kind);
        for (const Nudge& nudge : nudges) {
            machine::Machine other = machine;
            machine::Level* changed = levels_of(other)[level];
            if (changed == nullptr) {
                continue;
            }
            if (nudge.name == "o_p" && machine.posts_take_cpu() && changed->segments.front().parameters.o_p == 0) {
                continue;  // the other levels have it: it counts, but here also from 0 on
            }
            if ((nudge.name == "o_p" && !machine.posts_take_cpu()) ||
                (nudge.name == "c" && !machine.sends_end_late(kind))) {
                // From 0 on, the first picosecond changes what goes first, which is no small change.
                for (const Sloped& rank : slopes) {
                    EXPECT_EQ(nudge.count(rank.levels[level]), 0) << which << ", " << nudge.name;
                }
                continue;
            }
            *changed = nudged(*changed, nudge);
            const std::vector<Time> after = times_of(source, other);
            for (std::uint32_t r = 0; r < source.ranks(); ++r) {
                EXPECT_EQ(slopes[r].time, before[r]);
                const auto slope = static_cast<Time>(nudge.count(slopes[r].levels[level]));
                EXPECT_EQ(after[r] - before[r], slope)
                    << which << ", rank " << r << ", " << nudge.name << " of level " << level;
                found += slope != 0 ? 1 : 0;
            }
        }
    }
    return found;
}

TEST(Slopes, AreWhatTheSimulationGivesWhenAParameterGrowsByALittle) {
    std::uint64_t found = 0;
    for (std::uint64_t seed = 0; seed < testing::trials(600); ++seed) {
        testing::Dice dice(seed);
        const machine::Machine machine = fine_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(4), 1 + dice.small(20));
        try {
            found += expect_true_slopes<FullDifferentiation>(graph, machine, "schedule " + std::to_string(seed));
        } catch (const Standstill&) {
            continue;
        }
    }
    EXPECT_GT(found, testing::trials(5000)) << "most times depend on most parameters";
}

TEST(Slopes, OfCollectivesAreThoseToTheRightWhereManyRanksAreAsLate) {
    const machine::Machine machine = testing::simple_machine(2'000'037, 150'011, 200'003, 2000, 501);
    for (const auto& [collective, name] :
         {std::pair(collectives::Collective::barrier, "dissemination"),
          std::pair(collectives::Collective::bcast, "binomial"), std::pair(collectives::Collective::allreduce, "ring"),
          std::pair(collectives::Collective::alltoall, "pairwise"),
          std::pair(collectives::Collective::gather, "linear"),
          std::pair(collectives::Collective::reduce_scatter, "halving")}) {
        for (const std::uint32_t P : {2U, 7U, 16U}) {
            expect_true_slopes<SharedDifferentiation>(pattern(collectives::algorithm(collective, name), P, 100, 0.5),
                                                      machine, name);
        }
    }
}

/// Whole nanoseconds, as computation has them, so that many things come at one time.
machine::Parameters coarse_parameters(testing::Dice& dice) {
    return {.L = 1000 * dice.between(1, 3),
            .o_s = 1000 * dice.between(0, 2),
            .o_r = 1000 * dice.between(0, 2),
            .g = 1000 * dice.between(0, 3),
            .G = dice.one_in(2) ? 1000.0 : 0.0,
            .O_s = dice.one_in(2) ? 1000.0 : 0.0,
            .O_r = dice.one_in(2) ? 1000.0 : 0.0,
            .c = dice.one_in(4) ? 1000 : 0,
            .o_p = dice.one_in(4) ? 1000 : 0};
}

TEST(Slopes, AreTheSameWhetherMomentsShareThemOrEachHasItsOwn) {
    std::uint64_t ties = 0;
    for (std::uint64_t seed = 0; seed < testing::trials(600); ++seed) {
        testing::Dice dice(seed);
        machine::Machine machine = testing::random_machine(dice);
        machine.network.segments = {{.parameters = coarse_parameters(dice)}};
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(6), 1 + dice.small(20));
        try {
            const std::vector<Sloped> own = slopes_by<FullDifferentiation>(graph, machine);
            for (const std::uint32_t threads : {1U, 2U}) {
                ASSERT_EQ(slopes_by<SharedDifferentiation>(graph, machine, threads), own) << seed;
            }
            for (const Sloped& rank : own) {
                const LevelSlopes& counts = rank.levels[0];
                ties += counts.o < counts.o_s + counts.o_r || counts.O < counts.O_s + counts.O_r ? 1 : 0;
            }
        } catch (const Standstill&) {
            continue;
        }
    }
    EXPECT_GT(ties, 0) << "slopes that data_arrived together at one time";
}

TEST(Slopes, OfALargeScheduleAreTheSameOnAnyNumberOfThreads) {
    machine::Machine machine = testing::simple_machine(2'000'037, 150'011, 200'003, 2000, 501);
    machine.noise = machine::NoiseTrace({{0, 900'000}, {7'000'000, 50'000}}, 20'000'000, machine::Phase::random);
    const std::uint32_t ranks = 30'000;
    const collectives::Composition halo =
        collectives::all_ranks(ranks, {collectives::stage_of("halo2d", "", ranks, {.bytes = 100})}, 3);
    const std::vector<Sloped> one = slopes_by<SharedDifferentiation>(halo, machine);
    ASSERT_EQ(slopes_by<SharedDifferentiation>(halo, machine, 2), one);
    ASSERT_EQ(slopes_by<SharedDifferentiation>(halo, machine, 3), one);
}

/// Each rank computes for another time, and tells the next.
goal::Graph uneven_ranks(std::uint32_t ranks) {
    std::string text = "num_ranks " + std::to_string(ranks) + "\n";
    for (std::uint32_t r = 0; r < ranks; ++r) {
        text += "rank " + std::to_string(r) + " {\nc: calc " + std::to_string(1000 + 7 * r) + "\ns: send 8b to " +
                std::to_string((r + 1) % ranks) + "\ns requires c\nrecv 8b from " +
                std::to_string((r + ranks - 1) % ranks) + "\n}\n";
    }
    return goal::read_goal(text, "uneven");
}

TEST(Slopes, OfTooManyKindsToShareAreEachMomentsOwn) {
    const goal::Graph graph = uneven_ranks(100);
    const machine::Machine machine = testing::simple_machine(2'000'037, 150'011, 200'003, 2000, 501);
    EXPECT_THROW(slopes_by<SharedDifferentiation>(graph, machine), TooManySlopes);
    EXPECT_THROW(slopes_by<SharedDifferentiation>(graph, machine, 2), TooManySlopes);
    machine::Machine posting = machine;
    posting.network.segments.front().parameters.o_p = 100'000;
    machine::Machine two_levels = machine;
    two_levels.node = machine.network;
    two_levels.node_ranks = 3;
    for (const machine::Machine& own : {machine, posting, two_levels}) {
        const auto found = differentiate(own, [&](auto& observer) { return slopes_of(graph, own, observer); });
        EXPECT_EQ(found, slopes_by<FullDifferentiation>(graph, own));
    }
}

TEST(Slopes, OfAMachineWithoutALookaheadAreEachMomentsOwn) {
    const goal::Graph graph = uneven_ranks(8);
    const machine::Machine machine = testing::simple_machine(0, 0, 200'003, 2000, 501);
    EXPECT_GT(expect_true_slopes<FullDifferentiation>(graph, machine, "ring"), 0U);
    const auto found = differentiate(machine, [&](auto& observer) { return slopes_of(graph, machine, observer); });
    EXPECT_EQ(found, slopes_by<FullDifferentiation>(graph, machine));
    EXPECT_THROW(slopes_by<SharedDifferentiation>(graph, machine), InputError);
}

/// Some slopes at one of few times, so that two or three come together, alike or not.
AllSlopes random_slopes(testing::Dice& dice) {
    AllSlopes slopes;
    slopes.time = static_cast<Time>(dice.roll(3));
    const auto few = [&dice] { return dice.small(2); };
    for (unsigned level = 0; level < all_levels; ++level) {
        slopes.add(level, {few(), few(), few(), few(), few(), few(), few()});
    }
    slopes.words[2] += SlopeWordPair{0, few()};
    return slopes;
}

TEST(Slopes, TheLatestOfThreeIsTheLatestOfTwoAndTheThird) {
    testing::Dice dice(4);
    for (int i = 0; i < 20'000; ++i) {
        const AllSlopes a = random_slopes(dice);
        const AllSlopes b = dice.one_in(4) ? a : random_slopes(dice);
        const AllSlopes c = dice.one_in(4) ? b : random_slopes(dice);
        const AllSlopes expected = latest(a, latest(b, c));
        const AllSlopes found = latest(a, b, c);
        ASSERT_EQ(found.time, std::max({a.time, b.time, c.time}));
        ASSERT_EQ(found.time, expected.time);
        ASSERT_TRUE(found.has_slopes_of(expected));
        for (const AllSlopes& one : {a, b, c}) {
            if (one.time == found.time) {
                ASSERT_GE(found.level(0).L, one.level(0).L);
                ASSERT_GE(found.level(1).O, one.level(1).O);
                ASSERT_GE(found.computation(), one.computation());
            }
        }
    }
}

}  // namespace
}  // namespace idlewave::loggops
