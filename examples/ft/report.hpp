// What the program prints: progress and a result in the form of the NAS Parallel Benchmarks, or the result as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "options.hpp"
#include "phases.hpp"

namespace ft {

// Of all ranks; on rank 0.
struct Result {
    int ranks = 0;
    double seconds = 0;  // from the initial values to the last checksum, of the slowest rank
    std::array<double, phase_count> most{};
    std::array<double, phase_count> mean{};
    std::array<int64_t, 2> bytes_sent{};  // by a rank to others: least and most
    std::vector<Complex> checksums;
    bool verified = false;
};

void print_header(const Options& options, int ranks, double bytes_of_a_rank);
void print_checksum(int iteration, Complex checksum);
void print_result(const Options& options, const Result& result);
void print_json(const Options& options, const Result& result);

}  // namespace ft
