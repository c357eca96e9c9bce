#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/time.hpp"

namespace idlewave {

/// How long detours are: all alike, …
struct FixedLength {
    Time length = 0;
};

/// … at least `min`, and beyond it as memoryless as their arrivals, …
struct ExponentialLength {
    double mean = 0;  ///< ps, `min` included
    double min = 0;   ///< ps
};

/// … any whole number of ps from `min` to `max`, both included, …
struct UniformLength {
    Time min = 0;
    Time max = 0;
};

/// … lognormal: median · exp(sigma · z), z standard normal, …
struct LognormalLength {
    double median = 0;  ///< ps
    double sigma = 0;
};

/// … heavy-tailed: longer than x with probability (min / x)^alpha, …
struct ParetoLength {
    double min = 0;  ///< ps
    double alpha = 0;
};

/// … or one of those that were measured.
struct EmpiricalLength {
    std::vector<Time> lengths;
};

using DetourLength =
    std::variant<FixedLength, ExponentialLength, UniformLength, LognormalLength, ParetoLength, EmpiricalLength>;

/// Throws InputError that says what is wrong with the law's numbers.
void check(const DetourLength& law);

/// A length, ps, rounded to the nearest, as 64 random bits have it. Throws TimeOverflow where it exceeds all times.
Time draw_length(const DetourLength& law, std::uint64_t bits);

}  // namespace idlewave
