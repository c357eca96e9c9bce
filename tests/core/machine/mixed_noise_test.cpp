#include "machine/mixed_noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "machine/noise.hpp"
#include "random_schedule.hpp"

namespace idlewave::machine {
namespace {

using testing::Dice;

/// The rule, picosecond by picosecond: the trace's detours are there by the clock, a random one comes when the time
/// that the trace leaves has reached its start, and both hold the work up.
class EveryPicosecond {
  public:
    EveryPicosecond(const std::vector<Detour>& trace, Time period, Time phase, const std::vector<Detour>& random,
                    Time horizon) {
        Time free = 0;  // outside of the trace's detours
        std::size_t next = 0;
        for (Time t = 0; t < horizon; ++t) {
            const Time position = (t + phase) % period;
            const bool by_trace = std::ranges::any_of(
                trace, [&](const Detour& d) { return d.start <= position && position < d.start + d.length; });
            while (next < random.size() && random[next].start + random[next].length <= free) {
                ++next;
            }
            const bool by_random = !by_trace && next < random.size() && random[next].start <= free;
            busy_.push_back(by_trace || by_random);
            free += by_trace ? 0 : 1;
        }
    }

    [[nodiscard]] Time finish(Time t, Time w) const {
        while (busy(t) || w > 0) {
            w -= busy(t) ? 0 : 1;
            ++t;
            if (w == 0 && !busy(t - 1)) {
                break;
            }
        }
        return t;
    }

  private:
    [[nodiscard]] bool busy(Time t) const { return busy_.at(static_cast<std::size_t>(t)); }

    std::vector<bool> busy_;
};

TEST(MixedNoise, IsWhatTheClocksDetoursAndTheRandomOnesBetweenThemMakeOfEachPicosecond) {
    constexpr Time horizon = 60'000;
    const std::vector<Detour> detours{{100, 40}, {900, 7}};
    constexpr Time period = 1000;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Phase phase = seed % 3 == 0 ? Phase::same : Phase::random;
        const NoiseTrace trace(detours, period, phase);
        const PoissonNoise random({{1500, ExponentialLength{300}}, {4000, FixedLength{2}}}, phase);
        const MixedNoise mixed(trace, random);
        const EveryPicosecond truth(detours, period, trace.phase(seed, 5), random.detours(seed, 5, horizon), horizon);
        NoiseState state = mixed.begin(seed, 5);
        Dice dice(seed);
        Time t = 0;
        for (int i = 0; i < 300; ++i) {
            t = dice.one_in(10) ? dice.between(0, 30'000) : std::min<Time>(t + dice.between(0, 150), 30'000);
            const Time w = dice.one_in(4) ? 0 : dice.between(0, 3000);
            ASSERT_EQ(mixed.run(state, t, w), truth.finish(t, w)) << "seed " << seed << ", " << w << " from " << t;
        }
    }
}

TEST(MixedNoise, WithoutOneOfItsKindsIsTheOther) {
    const NoiseTrace trace({{10, 5}, {400, 50}}, 1000, Phase::random);
    const PoissonNoise random(5000, ExponentialLength{900}, Phase::random);
    const PoissonNoise nothing(5000, FixedLength{0}, Phase::random);
    const Noise only_trace = MixedNoise(trace, nothing);
    const Noise only_random = MixedNoise(NoiseTrace({}, 1000, Phase::random), random);
    Dice dice(3);
    for (int i = 0; i < 3000; ++i) {
        const Time t = dice.between(0, 300'000);
        const Time w = dice.between(0, 8000);
        const auto finish = [&](const Noise& noise) {
            NoiseState state = noise.begin(9, 2);
            return noise.finish(state, t, w);
        };
        ASSERT_EQ(finish(only_trace), finish(Noise(trace)));
        ASSERT_EQ(finish(only_random), finish(Noise(random)));
    }
}

TEST(MixedNoise, KeepsItsMemoryOutOfTheTimesOfASimulation) {
    const Noise noise =
        MixedNoise(NoiseTrace({{0, 5}}, 1000, Phase::random), PoissonNoise(4e18, FixedLength{1}, Phase::random));
    NoiseState state = noise.begin(1, 0);
    for (Time t = 0; t < 5000; t += 100) {
        static_cast<void>(noise.finish(state, t, 10));
        EXPECT_LT(state.quiet_from, 0);
        EXPECT_LT(state.quiet_until, 0);
    }
    EXPECT_THROW(static_cast<void>(noise.finish(state, never - 5, 10)), TimeOverflow);
}

TEST(MixedNoise, RefusesSourcesWhosePhasesDiffer) {
    const NoiseTrace same({{0, 5}}, 1000, Phase::same);
    const NoiseTrace given({{0, 5}}, 1000, Phase::given, {0});
    const PoissonNoise random(4000, FixedLength{1}, Phase::random);
    EXPECT_THROW(MixedNoise(same, random), InputError);
    EXPECT_THROW(MixedNoise(given, random), InputError);
}

TEST(PoissonNoise, SourcesKeepTheirRatesAndLengths) {
    constexpr Time until = 200'000'000;
    const PoissonNoise noise({{10'000, FixedLength{1}}, {40'000, FixedLength{2}}, {200'000, FixedLength{3}}},
                             Phase::random);
    std::map<Time, int> counts;
    Time taken = 0;
    for (const Detour& detour : noise.detours(5, 1, until)) {
        ++counts[detour.length];
        taken += detour.length;
    }
    const double free = static_cast<double>(until - taken);
    for (const auto& [length, interval] : std::map<Time, double>{{1, 10'000}, {2, 40'000}, {3, 200'000}}) {
        const double expected = free / interval;
        EXPECT_NEAR(counts[length], expected, 4 * std::sqrt(expected)) << "of length " << length;
    }
    EXPECT_THROW(PoissonNoise({}, Phase::random), InputError);
    EXPECT_THROW(PoissonNoise({{10'000, FixedLength{1}}, {1, FixedLength{1}}}, Phase::random), InputError);
}

}  // namespace
}  // namespace idlewave::machine
