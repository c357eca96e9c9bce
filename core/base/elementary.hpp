#pragma once

/// Elementary functions that use sums, products and quotients only. The results of the C library differ in the last bit
/// between versions and processors; a simulated time must not differ. (CMakeLists.txt therefore forbids the compiler to
/// fuse operations.)
namespace idlewave {

/// The natural logarithm of a normal x > 0, to a few 1e-16.
double natural_logarithm(double x);

/// e to the power of x, to a few 1e-16; infinity above 709.
double exponential(double x);

/// The p-quantile of the standard normal distribution, 0 < p < 1, to 1e-15.
double normal_quantile(double p);

}  // namespace idlewave
