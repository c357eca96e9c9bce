#pragma once

/// Elementary functions of sums, products and quotients only. The C library's differ in the last bit from one version
/// and processor to the next, and a simulated time must not (CMakeLists.txt: nothing may be fused into one operation).
namespace idlewave {

/// The natural logarithm of a normal x > 0, to a few 1e-16.
double natural_logarithm(double x);

/// e to the power of x, to a few 1e-16; infinity above 709.
double exponential(double x);

/// What a standard normal number is below of with probability p, 0 < p < 1: its quantile, to 1e-15.
double normal_quantile(double p);

}  // namespace idlewave
