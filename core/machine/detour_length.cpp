#include "machine/detour_length.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/elementary.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

namespace idlewave::machine {
namespace {

void expect(bool holds, const std::string& what) {
    if (!holds) {
        throw InputError("noise: expected " + what);
    }
}

Time rounded(double length) {
    const double whole = std::floor(length + 0.5);
    if (!(whole < 0x1p63)) {
        throw TimeOverflow();
    }
    return static_cast<Time>(whole);
}

/// Checks the parameters of each kind of law.
struct Check {
    void operator()(const FixedLength& law) const {
        expect(law.length >= 0, "a length of detours that is not negative");
    }
    void operator()(const ExponentialLength& law) const {
        expect(law.mean >= 0 && std::isfinite(law.mean), "a mean length of detours that is not negative");
        expect(0 <= law.min && law.min <= law.mean, "lengths of detours from a min on that their mean is not below");
    }
    void operator()(const UniformLength& law) const {
        expect(0 <= law.min && law.min <= law.max, "lengths of detours from a min up to a max that is no less");
    }
    void operator()(const LognormalLength& law) const {
        expect(law.median > 0 && std::isfinite(law.median), "a median length of detours above 0");
        expect(law.sigma >= 0 && std::isfinite(law.sigma), "a sigma that is not negative");
    }
    void operator()(const ParetoLength& law) const {
        expect(law.min > 0 && std::isfinite(law.min), "a least length of detours above 0");
        expect(law.alpha > 0 && std::isfinite(law.alpha), "an alpha above 0");
    }
    void operator()(const EmpiricalLength& law) const {
        expect(!law.lengths.empty(), "at least one length of detours to draw from");
        expect(std::ranges::min(law.lengths) >= 0, "lengths of detours that are not negative");
    }
};

/// Draws from each kind of law by inverting its distribution function.
struct Draw {
    std::uint64_t bits;

    Time operator()(const FixedLength& law) const { return law.length; }
    Time operator()(const ExponentialLength& law) const {
        return rounded(law.min - (law.mean - law.min) * natural_logarithm(between_0_and_1(bits)));
    }
    Time operator()(const UniformLength& law) const {
        return law.min + static_cast<Time>(below(static_cast<std::uint64_t>(law.max - law.min) + 1, bits));
    }
    Time operator()(const LognormalLength& law) const {
        return rounded(law.median * exponential(law.sigma * normal_quantile(between_0_and_1(bits))));
    }
    Time operator()(const ParetoLength& law) const {
        return rounded(law.min * exponential(-natural_logarithm(between_0_and_1(bits)) / law.alpha));
    }
    Time operator()(const EmpiricalLength& law) const { return law.lengths[below(law.lengths.size(), bits)]; }
};

}  // namespace

void check(const DetourLength& law) {
    std::visit(Check{}, law);
}

Time draw_length(const DetourLength& law, std::uint64_t bits) {
    return std::visit(Draw{bits}, law);
}

}  // namespace idlewave::machine
