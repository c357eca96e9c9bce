#include "machine/noise.hpp"

namespace idlewave::machine {

bool Noise::silent() const {
    const auto* trace = std::get_if<NoiseTrace>(&kind_);
    return trace != nullptr ? trace->silent() : std::holds_alternative<std::monostate>(kind_);
}

NoiseState Noise::begin(std::uint64_t seed, std::uint32_t rank) const {
    if (silent()) {
        return {.quiet_from = 0, .quiet_until = never};
    }
    if (const auto* poisson = std::get_if<PoissonNoise>(&kind_)) {
        return poisson->begin(seed, rank);
    }
    if (const auto* mixed = std::get_if<MixedNoise>(&kind_)) {
        return mixed->begin(seed, rank);
    }
    return {.origin = static_cast<std::uint64_t>(std::get<NoiseTrace>(kind_).phase(seed, rank))};
}

Time Noise::finish_with_detours(NoiseState& state, Time t, Time w) const {
    if (const auto* poisson = std::get_if<PoissonNoise>(&kind_)) {
        return poisson->run(state, t, w);
    }
    if (const auto* mixed = std::get_if<MixedNoise>(&kind_)) {
        return mixed->run(state, t, w);
    }
    if (const auto* trace = std::get_if<NoiseTrace>(&kind_)) {
        const auto phase = static_cast<Time>(state.origin);
        const bool known = state.quiet_until > 0 && state.quiet_from <= t;
        const NoiseTrace::Completion done =
            known ? trace->run_from(state.quiet_until, state.index, phase, t, w) : trace->run(phase, t, w);
        state.quiet_from = done.quiet_from;
        state.quiet_until = done.quiet_until;
        state.index = done.next;
        return done.end;
    }
    return later(t, w);
}

}  // namespace idlewave::machine
