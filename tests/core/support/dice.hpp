#pragma once

#include <cstdint>
#include <random>

namespace idlewave::testing {

/// Random numbers that are the same on every machine and in every run.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}

    /// A number in [0, sides); `sides` > 0.
    std::uint64_t roll(std::uint64_t sides) { return engine_() % sides; }

    std::uint32_t small(std::uint32_t sides) { return static_cast<std::uint32_t>(roll(sides)); }
    std::int64_t between(std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(roll(static_cast<std::uint64_t>(most - least) + 1));
    }
    bool one_in(std::uint64_t sides) { return roll(sides) == 0; }

  private:
    std::mt19937_64 engine_;
};

}  // namespace idlewave::testing
