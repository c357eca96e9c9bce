#include "machine/mixed_noise.hpp"

#include <limits>
#include <utility>

#include "base/error.hpp"

namespace idlewave::machine {
namespace {

/// A mixture stores the quiet interval of its random detours as times below 0. Noise::finish uses a quiet interval that
/// holds the present time without asking further; a quiet interval of the random detours alone must never look so,
/// since the trace may have detours in it.
constexpr Time offset = std::numeric_limits<Time>::min();

NoiseState hidden(NoiseState state) {
    state.quiet_from += offset;
    state.quiet_until += offset;
    return state;
}

NoiseState revealed(NoiseState state) {
    state.quiet_from -= offset;
    state.quiet_until -= offset;
    return state;
}

}  // namespace

MixedNoise::MixedNoise(NoiseTrace trace, PoissonNoise random) : trace_(std::move(trace)), random_(std::move(random)) {
    if (trace_.phase_kind() != random_.phase_kind()) {
        throw InputError("noise: expected one phase, random or same, for all sources of a mixture");
    }
}

NoiseState MixedNoise::begin(std::uint64_t seed, std::uint32_t rank) const {
    return hidden(random_.begin(seed, rank));
}

Time MixedNoise::run(NoiseState& state, Time t, Time w) const {
    const Time phase = trace_.phase(state.origin, state.entity);
    NoiseState random = revealed(state);
    const Time free = trace_.free_before(phase, t);
    const Time done = random_.run(random, free, w);
    state = hidden(random);
    return trace_.finish(phase, t, done - free);
}

}  // namespace idlewave::machine
