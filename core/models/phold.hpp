#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/elementary.hpp"
#include "base/random.hpp"
#include "base/time.hpp"

namespace idlewave::models {

/// PHOLD (R. M. Fujimoto: Performance of Time Warp under synthetic workloads, SCS Multiconference on Distributed
/// Simulation, 1990), with the parameters of P. D. Barnes, C. D. Carothers, D. R. Jefferson, J. M. LaPre: Warp speed:
/// executing Time Warp on 1,966,080 cores, PADS 2013. Each LP starts some events. An LP that handles an event sends one
/// event: with probability `remote` to a random LP, else to itself, after the lookahead and an exponential time.
struct PholdParameters {
    std::uint32_t lps = 1024;
    std::uint32_t start_events = 16;  ///< of each LP
    double remote = 0.1;              ///< probability that an event goes to a random LP
    Time mean = 900'000;              ///< mean of the exponential part of the delay, millionths of a unit
    Time lookahead = 100'000;         ///< constant part of the delay, likewise
    Time end = 10'000'000;            ///< no event has this time or a later one, likewise
    std::uint64_t seed = 1;
    double conservative = 0;  ///< share of the LPs that is conservative (MixedPhold)

    /// The fields by name.
    static constexpr auto fields() {
        using P = PholdParameters;
        return std::tuple{
            std::pair{"lps", &P::lps},   std::pair{"start_events", &P::start_events}, std::pair{"remote", &P::remote},
            std::pair{"mean", &P::mean}, std::pair{"lookahead", &P::lookahead},       std::pair{"end", &P::end},
            std::pair{"seed", &P::seed}, std::pair{"conservative", &P::conservative}};
    }
};

class Phold {
  public:
    static constexpr std::string_view time_unit = "millionths of a unit of time";

    struct State {
        std::uint64_t handled = 0;
        std::uint64_t digest = 0;  ///< of the times of all events, in the order in which they were handled
    };
    struct Payload {
        bool operator==(const Payload&) const = default;
    };

    explicit Phold(const PholdParameters& parameters)
        : parameters_(parameters), remote_below_(static_cast<std::uint64_t>(parameters.remote * 0x1p53)) {}

    [[nodiscard]] std::uint32_t lps() const { return parameters_.lps; }
    [[nodiscard]] Time lookahead() const { return parameters_.lookahead; }
    [[nodiscard]] std::uint64_t seed() const { return parameters_.seed; }
    /// A time within which most events arrive.
    [[nodiscard]] Time typical_delay() const { return parameters_.mean; }
    /// What an LP adds to the digest of a run.
    [[nodiscard]] static std::uint64_t digest(std::uint32_t lp, const State& state) {
        return philox({lp, state.digest, state.handled, 0}, {0, 0})[0];
    }

    template <class Context>
    void start(State& /*state*/, Context& context) const {
        for (std::uint32_t i = 0; i < parameters_.start_events; ++i) {
            const Philox bits = context.random_bits();
            send(context.self(), bits[2], context);
        }
    }

    template <class Context>
    [[gnu::always_inline]] void handle(State& state, const Payload& /*payload*/, Context& context) const {
        ++state.handled;
        state.digest = (state.digest ^ static_cast<std::uint64_t>(context.now())) * 0x9e3779b97f4a7c15U;
        const Philox bits = context.random_bits();
        const bool remote = bits[0] >> 11 < remote_below_;
        const std::uint64_t destination = remote ? below(parameters_.lps, bits[1]) : context.self();
        send(static_cast<std::uint32_t>(destination), bits[2], context);
    }

  private:
    template <class Context>
    [[gnu::always_inline]] void send(std::uint32_t destination, std::uint64_t bits, Context& context) const {
        const double exponential = -natural_logarithm(between_0_and_1(bits)) * static_cast<double>(parameters_.mean);
        const Time delay = parameters_.lookahead + static_cast<Time>(exponential);
        if (delay < parameters_.end - context.now()) {
            context.send(destination, delay, {});
        }
    }

    PholdParameters parameters_;
    std::uint64_t remote_below_;  ///< in units of 2^-53
};

/// PHOLD with a share of conservative LPs.
class MixedPhold : public Phold {
  public:
    explicit MixedPhold(const PholdParameters& parameters)
        : Phold(parameters), conservative_below_(static_cast<std::uint64_t>(parameters.conservative * 0x1p32)) {}

    [[nodiscard]] bool conservative(std::uint32_t lp) const {
        constexpr std::uint32_t odd = 0x9e3779b9;  // 2^32 / golden ratio, odd: spreads these LPs evenly
        return lp * odd < conservative_below_;
    }

  private:
    std::uint64_t conservative_below_;  ///< in units of 2^-32
};

}  // namespace idlewave::models
