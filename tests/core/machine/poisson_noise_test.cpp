#include "machine/poisson_noise.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "machine/noise.hpp"
#include "random_schedule.hpp"

namespace idlewave::machine {
namespace {

using testing::Dice;

/// The rule over a list of all detours, from the first one on.
Time slow_finish(const std::vector<Detour>& detours, Time t, Time w) {
    for (const Detour& d : detours) {
        if (d.start + d.length <= t) {
            continue;
        }
        if (d.start > t) {
            if (w <= d.start - t) {
                break;
            }
            w -= d.start - t;
        }
        t = d.start + d.length;
    }
    return t + w;
}

DetourLength random_length(Dice& dice) {
    switch (dice.between(0, 5)) {
        case 0:
            return FixedLength{dice.between(0, 3000)};
        case 1:
            return ExponentialLength{static_cast<double>(dice.between(0, 3000))};
        case 2:
            return UniformLength{0, dice.between(0, 3000)};
        case 3:
            return LognormalLength{static_cast<double>(dice.between(1, 3000)), 0.7};
        case 4:
            return ParetoLength{static_cast<double>(dice.between(1, 1000)), 1.5};
        default:
            return EmpiricalLength{{0, 1, 700, 5000}};
    }
}

TEST(PoissonNoise, GivesWhatAWalkOverAllItsDetoursGives) {
    constexpr Time horizon = 100'000'000;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Dice dice(seed);
        const PoissonNoise noise(1000.0 + static_cast<double>(dice.between(0, 9000)), random_length(dice),
                                 dice.one_in(3) ? Phase::same : Phase::random);
        const auto detours = noise.detours(seed, 3, horizon);
        const bool ascending = !dice.one_in(4);
        NoiseState state = noise.begin(seed, 3);
        Time t = 0;
        for (int i = 0; i < 200; ++i) {
            if (dice.one_in(5) && !detours.empty()) {  // where a detour begins or ends, or next to it
                const auto& d = detours[static_cast<std::size_t>(dice.between(0, 50)) % detours.size()];
                const Time edge = d.start + (dice.one_in(2) ? d.length : 0) + dice.between(-1, 1);
                t = ascending ? std::max(t, edge) : edge;
            } else {
                t = ascending ? t + dice.between(0, 3000) : dice.between(0, 500'000);
            }
            const Time w = dice.one_in(4) ? 0 : dice.between(0, 30'000);
            const Time end = noise.run(state, t, w);
            ASSERT_EQ(end, slow_finish(detours, t, w)) << "seed " << seed << ", " << w << " ps from " << t;
            ASSERT_LT(end, horizon);
            ASSERT_EQ(noise.run(state, t, w), end) << "the same again";
        }
    }
}

TEST(PoissonNoise, ItsDetoursAreAPureFunctionOfSeedAndRankAndNeverTouch) {
    const PoissonNoise noise(10'000, ExponentialLength{5000}, Phase::random);
    const auto detours = noise.detours(1, 2, 10'000'000);
    ASSERT_GT(detours.size(), 100U);
    for (std::size_t i = 1; i < detours.size(); ++i) {
        EXPECT_GT(detours[i].start, detours[i - 1].start + detours[i - 1].length);
    }
    const auto starts = [&](std::uint64_t seed, std::uint32_t rank) { return noise.detours(seed, rank, 10'000'000); };
    EXPECT_EQ(starts(1, 2)[0].start, detours[0].start);
    EXPECT_NE(starts(1, 3)[0].start, detours[0].start);
    EXPECT_NE(starts(2, 2)[0].start, detours[0].start);
    const PoissonNoise together(10'000, ExponentialLength{5000}, Phase::same);
    EXPECT_EQ(together.detours(1, 2, 10'000'000)[0].start, together.detours(1, 99, 10'000'000)[0].start);
}

TEST(PoissonNoise, WorkThatEndsWhereADetourBeginsDoesNotSufferFromIt) {
    const PoissonNoise noise(10'000, FixedLength{70}, Phase::random);
    const Detour first = noise.detours(5, 0, 10'000'000).front();
    NoiseState state = noise.begin(5, 0);
    EXPECT_EQ(noise.run(state, 0, first.start), first.start);
    EXPECT_EQ(noise.run(state, 0, first.start + 1), first.start + 71);
    EXPECT_EQ(noise.run(state, first.start, 0), first.start + 70) << "a start inside waits, even with no work";
    EXPECT_EQ(noise.run(state, first.start + 69, 1), first.start + 71);
}

TEST(PoissonNoise, RareDetoursNeverComeAndLongWorkSaysSo) {
    const PoissonNoise rare(4e18, FixedLength{1}, Phase::random);
    NoiseState state = rare.begin(3, 1);
    EXPECT_EQ(rare.run(state, 0, 1'000'000), 1'000'000);
    EXPECT_THROW(static_cast<void>(rare.run(state, never - 5, 10)), TimeOverflow);
    const PoissonNoise endless(1000, FixedLength{never / 2}, Phase::random);
    NoiseState stuck = endless.begin(3, 1);
    EXPECT_THROW(static_cast<void>(endless.run(stuck, 0, 1'000'000)), TimeOverflow);
}

TEST(PoissonNoise, RefusesWhatIsNoNoiseAndSaysWhy) {
    const auto message = [](double interval, const DetourLength& length, Phase phase = Phase::random) -> std::string {
        try {
            const PoissonNoise noise(interval, length, phase);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(message(999, FixedLength{1}).find("at least 1 ns"), std::string::npos);
    EXPECT_NE(message(1000, FixedLength{-1}).find("a length of detours that is not negative"), std::string::npos);
    EXPECT_NE(message(1000, UniformLength{3, 2}).find("from a min up to a max"), std::string::npos);
    EXPECT_NE(message(1000, ParetoLength{1, 0}).find("alpha above 0"), std::string::npos);
    EXPECT_NE(message(1000, EmpiricalLength{}).find("at least one length"), std::string::npos);
    EXPECT_NE(message(1000, FixedLength{1}, Phase::given).find("random or same"), std::string::npos);
    EXPECT_EQ(message(1000, FixedLength{1}), "");
}

TEST(Noise, IsTheSameWhateverTheStateRemembers) {
    const PoissonNoise poisson(5000, ExponentialLength{900}, Phase::random);
    const NoiseTrace trace({{10, 5}, {400, 50}}, 1000, Phase::random);
    for (const Noise& noise : {Noise(), Noise(trace), Noise(poisson)}) {
        Dice dice(4);
        NoiseState state = noise.begin(7, 1);
        for (int i = 0; i < 2000; ++i) {
            const Time t = dice.between(0, 200'000);
            const Time w = dice.between(0, 8000);
            NoiseState fresh = noise.begin(7, 1);
            ASSERT_EQ(noise.finish(state, t, w), noise.finish(fresh, t, w));
        }
    }
}

TEST(Noise, IsSilentWithoutDetours) {
    EXPECT_TRUE(Noise().silent());
    EXPECT_TRUE(Noise(NoiseTrace()).silent());
    EXPECT_FALSE(Noise(PoissonNoise(1000, FixedLength{1}, Phase::random)).silent());
    NoiseState state = Noise().begin(1, 2);
    EXPECT_EQ(Noise().finish(state, 17, 4), 21);
    EXPECT_THROW(static_cast<void>(Noise().finish(state, never, 1)), TimeOverflow);
}

}  // namespace
}  // namespace idlewave::machine
