#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/time.hpp"

namespace idlewave::machine {

/// The length of detours: constant, …
struct FixedLength {
    Time length = 0;
};

/// … `min` plus an exponentially distributed time, …
struct ExponentialLength {
    double mean = 0;  ///< ps, `min` included
    double min = 0;   ///< ps
};

/// … any whole number of ps from `min` to `max`, both included, …
struct UniformLength {
    Time min = 0;
    Time max = 0;
};

/// … lognormal: median · exp(sigma · z) with z standard normal, …
struct LognormalLength {
    double median = 0;  ///< ps
    double sigma = 0;
};

/// … Pareto (heavy-tailed): longer than x with probability (min / x)^alpha, …
struct ParetoLength {
    double min = 0;  ///< ps
    double alpha = 0;
};

/// … or drawn from measured lengths, each with the same probability.
struct EmpiricalLength {
    std::vector<Time> lengths;
};

using DetourLength =
    std::variant<FixedLength, ExponentialLength, UniformLength, LognormalLength, ParetoLength, EmpiricalLength>;

/// Throws an InputError that names the parameter of `law` which is out of range.
void check(const DetourLength& law);

/// Draws a length in ps, rounded to the nearest, from 64 random bits. Throws TimeOverflow if it exceeds the range of
/// Time.
Time draw_length(const DetourLength& law, std::uint64_t bits);

}  // namespace idlewave::machine
