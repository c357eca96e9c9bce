#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/pattern.hpp"
#include "outcome.hpp"
#include "random_schedule.hpp"

namespace idlewave {
namespace {

/// One way to change a machine by a little, and how much a time's slope says that the time changes.
struct Nudge {
    std::string name;
    void (*apply)(Parameters&);
    std::uint64_t (*count)(const LevelSlopes&);
};

const std::vector<Nudge> nudges = {
    {"L", [](Parameters& p) { ++p.L; }, [](const LevelSlopes& s) { return std::uint64_t{s.L}; }},
    {"o_s", [](Parameters& p) { ++p.o_s; }, [](const LevelSlopes& s) { return std::uint64_t{s.o_s}; }},
    {"o_r", [](Parameters& p) { ++p.o_r; }, [](const LevelSlopes& s) { return std::uint64_t{s.o_r}; }},
    {"o", [](Parameters& p) { ++p.o_s, ++p.o_r; }, [](const LevelSlopes& s) { return std::uint64_t{s.o}; }},
    {"g", [](Parameters& p) { ++p.g; }, [](const LevelSlopes& s) { return std::uint64_t{s.g}; }},
    {"G", [](Parameters& p) { p.G += 1; }, [](const LevelSlopes& s) { return s.G; }},
    {"O", [](Parameters& p) { p.O += 1; }, [](const LevelSlopes& s) { return s.O; }},
};

Level nudged(Level level, const Nudge& nudge) {
    for (Segment& segment : level.segments) {
        nudge.apply(segment.parameters);
    }
    return level;
}

/// Parameters of many digits, so that one ps more changes no order in which things happen.
Parameters fine_parameters(testing::Dice& dice) {
    return {.L = dice.between(1'000'000, 40'000'000),
            .o_s = dice.between(1'000'000, 20'000'000),
            .o_r = dice.between(1'000'000, 20'000'000),
            .g = dice.between(1'000'000, 30'000'000),
            .G = static_cast<double>(dice.between(0, 900'000)),
            .O = static_cast<double>(dice.between(0, 900'000))};
}

Level fine_level(testing::Dice& dice) {
    Level level;
    level.segments[0].parameters = fine_parameters(dice);
    if (dice.one_in(3)) {
        level.segments.push_back({1 + dice.roll(20), fine_parameters(dice)});
    }
    level.S = dice.one_in(2) ? Level::always_eager : dice.roll(30);
    return level;
}

Machine fine_machine(testing::Dice& dice) {
    Machine machine;
    machine.network = fine_level(dice);
    if (dice.one_in(2)) {
        machine.node = fine_level(dice);
        machine.node_ranks = 1 + dice.small(3);
    }
    if (dice.one_in(2)) {
        const Time period = dice.between(50'000'000, 400'000'000);
        std::vector<Detour> detours;
        for (Time at = dice.between(0, 20'000'000); at < period - 30'000'000; at += dice.between(1, 60'000'000)) {
            detours.push_back({at, dice.between(1, 25'000'000)});
            at += detours.back().length;
        }
        machine.noise = NoiseTrace(detours, period, dice.one_in(3) ? Phase::same : Phase::random);
        machine.noise_reach = {.o_s = !dice.one_in(3), .o_r = !dice.one_in(3), .O = !dice.one_in(3)};
    }
    return machine;
}

template <class S>
std::vector<Slopes<2>> slopes_of(const S& source, const Machine& machine) {
    Differentiation<2> differentiation;
    return simulate(source, machine, {.seed = 3, .threads = 1, .poll = {}}, differentiation).finish;
}

template <class S>
std::vector<Time> times_of(const S& source, const Machine& machine) {
    return simulate(source, machine, {.seed = 3, .threads = 1, .poll = {}}).finish;
}

/// How many of the slopes are not 0.
template <class S>
std::uint64_t expect_true_slopes(const S& source, const Machine& machine, const std::string& which) {
    const std::vector<Slopes<2>> slopes = slopes_of(source, machine);
    const std::vector<Time> before = times_of(source, machine);
    std::uint64_t found = 0;
    for (unsigned level = 0; level < (machine.node ? 2 : 1); ++level) {
        for (const Nudge& nudge : nudges) {
            Machine other = machine;
            (level == 0 ? other.network : *other.node) = nudged(level == 0 ? machine.network : *machine.node, nudge);
            const std::vector<Time> after = times_of(source, other);
            for (std::uint32_t r = 0; r < source.ranks(); ++r) {
                EXPECT_EQ(slopes[r].time, before[r]);
                const auto slope = static_cast<Time>(nudge.count(slopes[r].level(level)));
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
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        testing::Dice dice(seed);
        const Machine machine = fine_machine(dice);
        const Graph graph = testing::random_schedule(dice, 2 + dice.small(4), 1 + dice.small(20));
        try {
            found += expect_true_slopes(graph, machine, "schedule " + std::to_string(seed));
        } catch (const Deadlock&) {
            continue;
        }
    }
    EXPECT_GT(found, 5000U) << "most times depend on most parameters";
}

TEST(Slopes, OfCollectivesAreThoseToTheRightWhereManyRanksAreAsLate) {
    const Machine machine = testing::simple_machine(2'000'037, 150'011, 200'003, 2000, 501);
    for (const auto& [collective, name] :
         {std::pair(Collective::barrier, "dissemination"), std::pair(Collective::bcast, "binomial"),
          std::pair(Collective::allreduce, "ring"), std::pair(Collective::alltoall, "pairwise"),
          std::pair(Collective::gather, "linear"), std::pair(Collective::reduce_scatter, "halving")}) {
        for (const std::uint32_t P : {2U, 7U, 16U}) {
            expect_true_slopes(pattern(algorithm(collective, name), P, 100, 0.5), machine, name);
        }
    }
}

/// Some slopes at one of few times, so that two or three come together, alike or not.
Slopes<2> random_slopes(testing::Dice& dice) {
    Slopes<2> slopes;
    slopes.time = static_cast<Time>(dice.roll(3));
    const auto few = [&dice] { return dice.small(2); };
    for (unsigned level = 0; level < 2; ++level) {
        slopes.add(level, {few(), few(), few(), few(), few(), few(), few()});
    }
    slopes.words[2] += SlopeWords{0, few()};
    return slopes;
}

TEST(Slopes, TheLatestOfThreeIsTheLatestOfTwoAndTheThird) {
    testing::Dice dice(4);
    for (int i = 0; i < 20'000; ++i) {
        const Slopes<2> a = random_slopes(dice);
        const Slopes<2> b = dice.one_in(4) ? a : random_slopes(dice);
        const Slopes<2> c = dice.one_in(4) ? b : random_slopes(dice);
        const Slopes<2> expected = latest(a, latest(b, c));
        const Slopes<2> found = latest(a, b, c);
        ASSERT_EQ(found.time, std::max({a.time, b.time, c.time}));
        ASSERT_EQ(found.time, expected.time);
        ASSERT_TRUE(found.has_slopes_of(expected));
        for (const Slopes<2>& one : {a, b, c}) {
            if (one.time == found.time) {
                ASSERT_GE(found.level(0).L, one.level(0).L);
                ASSERT_GE(found.level(1).O, one.level(1).O);
                ASSERT_GE(found.computation(), one.computation());
            }
        }
    }
}

}  // namespace
}  // namespace idlewave
