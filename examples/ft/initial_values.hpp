// The benchmark's initial values: uniform random numbers of one sequence, of which every rank makes its own.
#pragma once

#include "decomposition.hpp"
#include "problem.hpp"

namespace ft {

// Fill a rank's points, `values[z][y][x]`. Those of the whole domain are, in the order of memory, consecutive pairs of
// x(k+1) = 5^13 x(k) mod 2^46, from x(0) = 314159265 on.
void make_initial_values(const Decomposition& cut, Complex* values);

}  // namespace ft
