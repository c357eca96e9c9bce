// The classes of the benchmark: sizes, iterations, and the checksums that NASA published for them.
#pragma once

#include <complex>
#include <cstdint>
#include <span>

namespace ft {

using Complex = std::complex<double>;

struct Problem {
    char name = 'S';
    int nx = 0;
    int ny = 0;
    int nz = 0;
    std::span<const Complex> checksums;  // one an iteration

    int64_t points() const { return int64_t{nx} * ny * nz; }
    int iterations() const { return static_cast<int>(checksums.size()); }
};

// The class of that name; nullptr if there is none.
const Problem* find_problem(char name);

// Whether a checksum is the published one, to the benchmark's tolerance of 1e-12 of it. Iterations count from 0.
bool is_published(const Problem& problem, int iteration, Complex checksum);

// The number of operations in millions that the benchmark counts for so many iterations.
double counted_megaflop(const Problem& problem, int iterations);

}  // namespace ft
