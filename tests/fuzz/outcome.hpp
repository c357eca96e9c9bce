#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace idlewave::testing {

/// What becomes of an input.
enum class Outcome : std::uint8_t { accepted, refused, standstill, overflow };

inline constexpr std::array<std::string_view, 4> outcome_names{"accepted", "refused", "accepted, and stands still",
                                                               "accepted, and exceeds simulated time"};

/// How often each outcome there was. A fuzz target counts, and the program that calls it prints.
inline std::array<std::uint64_t, outcome_names.size()>& outcomes() {
    static std::array<std::uint64_t, outcome_names.size()> counts{};
    return counts;
}

inline void count(Outcome outcome) {
    ++outcomes()[static_cast<std::size_t>(outcome)];
}

}  // namespace idlewave::testing
