#include "machine/poisson_noise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/elementary.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

namespace idlewave::machine {

namespace {

void check(const PoissonSource& source) {
    // Also false for NaN.
    const bool possible = source.interval >= picoseconds_per_nanosecond && source.interval < 0x1p62;
    if (!possible) {
        throw InputError("noise: expected a mean interval between detours of at least 1 ns and below 50 days, found " +
                         std::to_string(source.interval) + " ps");
    }
    check(source.length);
}

}  // namespace

PoissonNoise::PoissonNoise(std::vector<PoissonSource> sources, Phase phase)
    : sources_(std::move(sources)), phase_(phase) {
    if (sources_.empty()) {
        throw InputError("noise: expected at least one source of random detours");
    }
    if (phase == Phase::given) {
        throw InputError("noise: expected phase random or same, as random detours have no list of phases");
    }
    double rate = 0;
    for (const PoissonSource& source : sources_) {
        check(source);
        rate += 1 / source.interval;
        shares_.push_back(rate);
    }
    for (double& share : shares_) {
        share /= rate;
    }
    interval_ = sources_.size() == 1 ? sources_.front().interval : 1 / rate;
}

NoiseState PoissonNoise::begin(std::uint64_t seed, std::uint32_t rank) const {
    NoiseState state;
    state.origin = seed;
    state.entity = phase_ == Phase::same ? std::numeric_limits<std::uint32_t>::max() : rank;
    quiet_after(state, 0);
    return state;
}

Time PoissonNoise::length_of(const NoiseState& state) const {
    const Philox bits = draws(state.origin, Stream::poisson_detours, state.entity, state.index);
    const double sample = between_0_and_1(bits[2]);
    std::size_t source = 0;
    while (source + 1 < sources_.size() && sample > shares_[source]) {
        ++source;
    }
    return draw_length(sources_[source].length, bits[1]);
}

/// Sets the quiet interval between `end` and detour number `state.index`. It has at least one picosecond, so that
/// detours do not touch.
void PoissonNoise::quiet_after(NoiseState& state, Time end) const {
    const std::uint64_t bits = draws(state.origin, Stream::poisson_detours, state.entity, state.index)[0];
    const double gap = std::max(1.0, std::ceil(-interval_ * natural_logarithm(between_0_and_1(bits))));
    state.quiet_from = end;
    if (gap >= 0x1p63 || __builtin_add_overflow(end, static_cast<Time>(gap), &state.quiet_until)) {
        state.quiet_until = never;
    }
}

/// Advances the state over the next detour.
void PoissonNoise::pass(NoiseState& state) const {
    const Time end = later(state.quiet_until, length_of(state));
    if (++state.index == 0) {
        throw InputError("noise: a rank has more than 4294967295 detours; expected a longer interval between them");
    }
    quiet_after(state, end);
}

Time PoissonNoise::run(NoiseState& state, Time t, Time w) const {
    if (t < state.quiet_from) {
        state.index = 0;
        quiet_after(state, 0);
    }
    NoiseState here = state;
    while (here.quiet_until <= t) {
        pass(here);
        if (here.quiet_from <= t) {
            state = here;
        }
    }
    Time now = std::max(t, here.quiet_from);
    while (w > here.quiet_until - now && here.quiet_until != never) {
        w -= here.quiet_until - now;
        pass(here);
        now = here.quiet_from;
    }
    return later(now, w);
}

std::vector<Detour> PoissonNoise::detours(std::uint64_t seed, std::uint32_t rank, Time until) const {
    std::vector<Detour> found;
    for (NoiseState state = begin(seed, rank); state.quiet_until < until; pass(state)) {
        found.push_back({state.quiet_until, length_of(state)});
    }
    return found;
}

}  // namespace idlewave::machine
