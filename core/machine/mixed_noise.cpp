#include "machine/mixed_noise.hpp"

#include <limits>
#include <utility>

#include "base/error.hpp"

namespace idlewave {
namespace {

/// Where a mixture's random detours are is kept in a NoiseState as times below 0, so that no time of the simulation
/// lies in what a state calls a quiet stretch: that would be one of the trace, too.
constexpr Time aside = std::numeric_limits<Time>::min();

NoiseState put_aside(NoiseState state) {
    state.quiet_from += aside;
    state.quiet_until += aside;
    return state;
}

NoiseState taken_back(NoiseState state) {
    state.quiet_from -= aside;
    state.quiet_until -= aside;
    return state;
}

}  // namespace

MixedNoise::MixedNoise(NoiseTrace trace, PoissonNoise random) : trace_(std::move(trace)), random_(std::move(random)) {
    if (trace_.phase_kind() != random_.phase_kind()) {
        throw InputError("noise: expected one phase, random or same, for all sources of a mixture");
    }
}

NoiseState MixedNoise::begin(std::uint64_t seed, std::uint32_t rank) const {
    return put_aside(random_.begin(seed, rank));
}

Time MixedNoise::run(NoiseState& state, Time t, Time w) const {
    const Time phase = trace_.phase(state.origin, state.entity);
    NoiseState random = taken_back(state);
    const Time free = trace_.free_before(phase, t);
    const Time done = random_.run(random, free, w);
    state = put_aside(random);
    return trace_.finish(phase, t, done - free);
}

}  // namespace idlewave
