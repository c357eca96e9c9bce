#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "pdes/event.hpp"
#include "pdes/handler_model.hpp"

namespace idlewave::testing {

/// A model for tests of single parts of the kernel, which execute nothing.
struct Small {
    struct State {
        std::uint64_t value = 0;
    };
    struct Payload {
        std::uint32_t word = 0;

        bool operator==(const Payload&) const = default;
    };

    [[nodiscard]] static std::uint32_t lps() { return 100; }
    [[nodiscard]] static Time lookahead() { return 10; }
    [[nodiscard]] static std::uint64_t seed() { return 1; }

    template <class Context>
    static void start(State& /*state*/, Context& /*context*/) {}
    template <class Context>
    static void handle(State& /*state*/, const Payload& /*payload*/, Context& /*context*/) {}
};

using SmallWindows = pdes::HandlerModel<Small, false>;

}  // namespace idlewave::testing
