#include "machine/noise_trace.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/error.hpp"
#include "machine/noise.hpp"
#include "random_schedule.hpp"

namespace idlewave::machine {
namespace {

using testing::Dice;
using testing::random_detours;

/// The rule itself, picosecond by picosecond.
class NaiveNoise {
  public:
    NaiveNoise(const std::vector<Detour>& detours, Time period) : stands_(static_cast<std::size_t>(period)) {
        for (const Detour& d : detours) {
            for (Time t = d.start; t < d.start + d.length; ++t) {
                stands_[static_cast<std::size_t>(t)] = true;
            }
        }
    }

    [[nodiscard]] bool stands(Time phase, Time t) const {
        return stands_[static_cast<std::size_t>(t + phase) % stands_.size()];
    }

    [[nodiscard]] Time finish(Time phase, Time t, Time w) const {
        while (stands(phase, t)) {
            ++t;
        }
        while (w > 0) {
            w -= stands(phase, t) ? 0 : 1;
            ++t;
        }
        return t;
    }

  private:
    std::vector<bool> stands_;
};

TEST(NoiseTrace, FinishIsWhatStepByStepExecutionGives) {
    Dice dice(1);
    for (int round = 0; round < 400; ++round) {
        const Time period = dice.between(2, 300);
        const auto detours = random_detours(dice, period);
        const NoiseTrace trace(detours, period, Phase::random);
        const NaiveNoise naive(detours, period);
        if (trace.silent()) {
            continue;
        }
        for (int i = 0; i < 60; ++i) {
            const Time phase = dice.between(0, period - 1);
            const Time t = dice.between(0, 3 * period);
            const Time w = dice.one_in(6) ? 0 : dice.between(0, dice.one_in(4) ? 5 * period : 20);
            ASSERT_EQ(trace.finish(phase, t, w), naive.finish(phase, t, w))
                << "round " << round << ": period " << period << ", phase " << phase << ", from " << t << ", work "
                << w;
        }
    }
}

TEST(NoiseTrace, TheQuietStretchThatItTellsHasNoDetourAndEndsWhereOneBegins) {
    Dice dice(2);
    for (int round = 0; round < 300; ++round) {
        const Time period = dice.between(2, 200);
        const auto detours = random_detours(dice, period);
        const NoiseTrace trace(detours, period, Phase::random);
        const NaiveNoise naive(detours, period);
        if (trace.silent()) {
            continue;
        }
        for (int i = 0; i < 20; ++i) {
            const Time phase = dice.between(0, period - 1);
            const Time t = dice.between(0, 2 * period);
            const NoiseTrace::Completion done = trace.run(phase, t, dice.one_in(4) ? 0 : dice.between(0, 2 * period));
            ASSERT_LE(done.quiet_from, done.end);
            ASSERT_GE(done.quiet_until, done.end);
            for (Time at = done.quiet_from; at < done.quiet_until; ++at) {
                ASSERT_FALSE(naive.stands(phase, at));
            }
            ASSERT_TRUE(naive.stands(phase, done.quiet_until));
        }
    }
}

TEST(NoiseTrace, WhatARankRemembersChangesNothing) {
    Dice dice(3);
    for (int round = 0; round < 300; ++round) {
        const Time period = dice.between(2, 200);
        const auto detours = random_detours(dice, period);
        const NaiveNoise naive(detours, period);
        const Noise noise(NoiseTrace(detours, period, Phase::random));
        NoiseState state = noise.begin(5, 3);
        const auto phase = static_cast<Time>(state.origin);
        Time t = 0;
        for (int i = 0; i < 60 && !noise.silent(); ++i) {
            // Mostly on from the last end, or from the same time again; now and then back.
            const Time w = dice.one_in(6) ? 0 : dice.between(0, dice.one_in(4) ? 2 * period : 9);
            const Time end = noise.finish(state, t, w);
            ASSERT_EQ(end, naive.finish(phase, t, w)) << "round " << round << ": from " << t << ", work " << w;
            t = dice.one_in(8) ? dice.between(0, t) : dice.one_in(4) ? t : end + dice.between(0, 30);
        }
    }
}

TEST(NoiseTrace, WorkThatEndsWhereADetourBeginsDoesNotSufferFromIt) {
    const NoiseTrace trace({{10, 5}}, 100, Phase::same);
    EXPECT_EQ(trace.finish(0, 4, 6), 10);
    EXPECT_EQ(trace.finish(0, 4, 7), 16);
}

TEST(NoiseTrace, AStartInsideADetourWaitsForItsEndEvenWithoutWork) {
    const NoiseTrace trace({{10, 5}}, 100, Phase::same);
    EXPECT_EQ(trace.finish(0, 10, 0), 15);
    EXPECT_EQ(trace.finish(0, 12, 3), 18);
    EXPECT_EQ(trace.finish(0, 15, 0), 15);
}

TEST(NoiseTrace, ADetourThatEndsThePeriodAndOneThatBeginsItAreOne) {
    const NoiseTrace trace({{0, 5}, {90, 10}}, 100, Phase::same);
    EXPECT_EQ(trace.finish(0, 95, 0), 105);
    EXPECT_EQ(trace.finish(0, 80, 11), 106);
}

TEST(NoiseTrace, WorkOfManyPeriodsTakesItsShareOfEach) {
    const NoiseTrace trace({{500, 250}}, 1000, Phase::same);
    EXPECT_EQ(trace.finish(0, 0, 750 * 1'000'000'000LL), 1000 * 1'000'000'000LL);
    EXPECT_EQ(trace.finish(0, 0, 750 * 1'000'000'000LL + 500), 1000 * 1'000'000'000LL + 500);
}

TEST(NoiseTrace, SaysSoWhenATimeLeavesItsRange) {
    const NoiseTrace trace({{0, 999}}, 1000, Phase::same);
    EXPECT_THROW(static_cast<void>(trace.finish(0, 0, never / 2)), TimeOverflow);
    EXPECT_THROW(static_cast<void>(trace.finish(999, never - 10, 5)), TimeOverflow);
}

TEST(NoiseTrace, WithoutDetoursItIsSilent) {
    EXPECT_TRUE(NoiseTrace().silent());
    EXPECT_TRUE(NoiseTrace({}, 10, Phase::random).silent());
    EXPECT_TRUE(NoiseTrace({{3, 0}}, 10, Phase::random).silent());
    EXPECT_EQ(NoiseTrace().finish(0, 17, 4), 21);
    EXPECT_THROW(static_cast<void>(NoiseTrace().finish(0, never, 1)), TimeOverflow);
}

TEST(NoisePhase, IsAPureFunctionOfSeedAndRank) {
    const std::vector<Detour> detours{{0, 5}};
    constexpr Time period = 1'000'000'000;
    const NoiseTrace trace(detours, period, Phase::random);
    const NoiseTrace again(detours, period, Phase::random);
    std::set<Time> of_ranks;
    for (std::uint32_t rank = 100; rank-- > 0;) {
        EXPECT_EQ(trace.phase(7, rank), again.phase(7, rank));
        EXPECT_GE(trace.phase(7, rank), 0);
        EXPECT_LT(trace.phase(7, rank), period);
        of_ranks.insert(trace.phase(7, rank));
    }
    EXPECT_EQ(of_ranks.size(), 100U) << "ranks are drawn apart";
    EXPECT_NE(trace.phase(7, 0), trace.phase(8, 0)) << "another seed draws another phase";
}

TEST(NoisePhase, IsTheSameForAllRanksWhenCoScheduled) {
    const NoiseTrace trace({{0, 5}}, 1'000'000'000, Phase::same);
    EXPECT_EQ(trace.phase(7, 0), trace.phase(7, 12345));
    EXPECT_NE(trace.phase(7, 0), trace.phase(8, 0));
}

TEST(NoisePhase, IsTakenFromAListWhichRepeatsOverTheRanks) {
    const NoiseTrace trace({{0, 5}}, 100, Phase::given, {10, 250, -1});
    EXPECT_EQ(trace.phase(1, 0), 10);
    EXPECT_EQ(trace.phase(2, 1), 50);
    EXPECT_EQ(trace.phase(3, 2), 99);
    EXPECT_EQ(trace.phase(4, 3), 10);
}

TEST(NoiseTrace, RefusesWhatIsNoNoiseAndSaysWhy) {
    const auto message = [](const std::vector<Detour>& detours, Time period,
                            Phase phase = Phase::random) -> std::string {
        try {
            const NoiseTrace trace(detours, period, phase);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message({}, 0), "noise: expected a period above 0, found 0 ps");
    EXPECT_EQ(message({}, 10, Phase::given), "noise: expected at least one phase in the list of phases");
    EXPECT_EQ(message({{0, 10}}, 10), "noise: the detours fill the whole period, so no work would ever be done");
    EXPECT_NE(message({{5, 2}, {6, 1}}, 10).find("detour 2 begins at 6 ps, before 7 ps"), std::string::npos);
    EXPECT_NE(message({{5, -1}}, 10).find("detour 1"), std::string::npos);
    EXPECT_NE(message({{-1, 1}}, 10).find("detour 1"), std::string::npos);
    EXPECT_EQ(message({{5, 6}}, 10), "noise: detour 1 does not end within the period of 10 ps");
    EXPECT_EQ(message({{10, 0}}, 10), "noise: detour 1 does not end within the period of 10 ps");
    EXPECT_EQ(message({{5, 5}}, 10), "");
    EXPECT_EQ(message({{5, never}}, 10), "noise: detour 1 does not end within the period of 10 ps");
}

}  // namespace
}  // namespace idlewave::machine
