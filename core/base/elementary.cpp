#include "base/elementary.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace idlewave {
namespace {

// ln 2 in two parts; the first has few bits, so that its product with a small whole number is exact.
constexpr double ln2_high = 0x1.62e42feep-1;
constexpr double ln2_low = 0x1.a39ef35793c76p-33;

using Coefficients = std::array<double, 8>;

double polynomial(const Coefficients& c, double x) {
    double sum = 0;
    for (std::size_t i = c.size(); i-- > 0;) {
        sum = sum * x + c[i];
    }
    return sum;
}

}  // namespace

double natural_logarithm(double x) {
    constexpr unsigned fraction_bits = 52;
    constexpr std::uint64_t half = std::bit_cast<std::uint64_t>(0.5);
    constexpr std::uint64_t fraction = (std::uint64_t{1} << fraction_bits) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    int exponent = static_cast<int>(bits >> fraction_bits) - 1022;
    auto mantissa = std::bit_cast<double>((bits & fraction) | half);
    if (mantissa < 0.70710678118654752) {
        mantissa *= 2;
        --exponent;
    }
    // ln m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...), with |s| < 0.172; in pairs (Estrin's scheme): a chain of twelve
    // additions, each of which needs the one before, takes three times as long.
    const double s = (mantissa - 1) / (mantissa + 1);
    const double square = s * s;
    const double fourth = square * square;
    const double eighth = fourth * fourth;
    const auto pair = [square](int i) { return 1.0 / i + 1.0 / (i + 2) * square; };
    const auto four = [&](int i) { return pair(i) + pair(i + 4) * fourth; };
    const double series = four(1) + (four(9) + four(17) * eighth) * eighth;
    return exponent * ln2_high + (exponent * ln2_low + 2 * s * series);
}

double exponential(double x) {
    if (x > 709) {
        return std::numeric_limits<double>::infinity();
    }
    if (x < -745) {
        return 0;
    }
    const double halvings = std::floor(x * 1.4426950408889634 + 0.5);
    const double rest = (x - halvings * ln2_high) - halvings * ln2_low;  // at most 0.35
    double series = 1;
    for (int i = 16; i >= 1; --i) {
        series = 1 + series * rest / i;
    }
    return std::ldexp(series, static_cast<int>(halvings));
}

// Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37 (1988): PPND16.
double normal_quantile(double p) {
    constexpr Coefficients a{3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                             1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                             3.3430575583588128105e+4, 2.5090809287301226727e+3};
    constexpr Coefficients b{1.0,
                             4.2313330701600911252e+1,
                             6.8718700749205790830e+2,
                             5.3941960214247511077e+3,
                             2.1213794301586595867e+4,
                             3.9307895800092710610e+4,
                             2.8729085735721942674e+4,
                             5.2264952788528545610e+3};
    constexpr Coefficients c{1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                             3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                             2.27238449892691845833e-2, 7.74545014278341407640e-4};
    constexpr Coefficients d{1.0,
                             2.05319162663775882187e0,
                             1.67638483018380384940e0,
                             6.89767334985100004550e-1,
                             1.48103976427480074590e-1,
                             1.51986665636164571966e-2,
                             5.47593808499534494600e-4,
                             1.05075007164441684324e-9};
    constexpr Coefficients e{6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                             2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                             2.71155556874348757815e-5, 2.01033439929228813265e-7};
    constexpr Coefficients f{1.0,
                             5.99832206555887937690e-1,
                             1.36929880922735805310e-1,
                             1.48753612908506148525e-2,
                             7.86869131145613259100e-4,
                             1.84631831751005468180e-5,
                             1.42151175831644588870e-7,
                             2.04426310338993978564e-15};
    const double q = p - 0.5;
    if (std::fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(a, r) / polynomial(b, r);
    }
    const double r = std::sqrt(-natural_logarithm(q < 0 ? p : 1 - p));
    const double x =
        r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5) / polynomial(f, r - 5);
    return q < 0 ? -x : x;
}

}  // namespace idlewave
