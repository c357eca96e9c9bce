#include "report.hpp"

#include <cstdio>

#include "line_transform.hpp"

namespace ft {
namespace {

double megaflops(const Options& options, const Result& result) {
    return counted_megaflop(*options.problem, options.iterations) / result.seconds;
}

}  // namespace

void print_header(const Options& options, int ranks, double bytes_of_a_rank) {
    const Problem& problem = *options.problem;
    std::printf("\n\n NAS Parallel Benchmarks - FT Benchmark, as an example of Idlewave\n\n");
    std::printf(" Size                : %4dx%4dx%4d\n", problem.nx, problem.ny, problem.nz);
    std::printf(" Iterations          : %14d\n", options.iterations);
    std::printf(" Number of processes : %14d\n", ranks);
    std::printf(" Processor array     : %7dx%6d\n", options.shape.ty, options.shape.tz);
    std::printf(" Exchange            : %14s\n", name_of(options.way));
    std::printf(" Local transforms    : %s\n", transform_library());
    std::printf(" Memory of a process : %10.1f MiB\n\n", bytes_of_a_rank / (1 << 20));
    std::fflush(stdout);
}

void print_checksum(int iteration, Complex checksum) {
    std::printf(" T =%5d     Checksum =%22.12E%22.12E\n", iteration, checksum.real(), checksum.imag());
    std::fflush(stdout);
}

void print_result(const Options& options, const Result& result) {
    const Problem& problem = *options.problem;
    std::printf(" Result verification %s\n class = %c\n", result.verified ? "successful" : "failed", problem.name);
    std::printf("\n Seconds of each phase      slowest process     mean\n");
    for (size_t i = 0; i < phase_count; ++i) {
        std::printf(" %-24s %17.6f %8.6f\n", phase_names[i], result.most[i], result.mean[i]);
    }
    std::printf(" Bytes that a process sends to others: %lld", static_cast<long long>(result.bytes_sent[1]));
    if (result.bytes_sent[0] != result.bytes_sent[1]) {
        std::printf(" (least: %lld)", static_cast<long long>(result.bytes_sent[0]));
    }
    std::printf("\n\n\n FT Benchmark Completed.\n");
    std::printf(" Class           = %24c\n", problem.name);
    std::printf(" Size            =           %4dx%4dx%4d\n", problem.nx, problem.ny, problem.nz);
    std::printf(" Iterations      = %24d\n", options.iterations);
    std::printf(" Time in seconds = %24.2f\n", result.seconds);
    std::printf(" Total processes = %24d\n", result.ranks);
    std::printf(" Mop/s total     = %24.2f\n", megaflops(options, result));
    std::printf(" Mop/s/process   = %24.2f\n", megaflops(options, result) / result.ranks);
    std::printf(" Operation type  = %24s\n", "floating point");
    std::printf(" Verification    = %24s\n", result.verified ? "SUCCESSFUL" : "UNSUCCESSFUL");
}

void print_json(const Options& options, const Result& result) {
    const Problem& problem = *options.problem;
    std::printf("{\"class\": \"%c\", \"size\": [%d, %d, %d], \"iterations\": %d, \"ranks\": %d, \"grid\": [%d, %d], ",
                problem.name, problem.nx, problem.ny, problem.nz, options.iterations, result.ranks, options.shape.ty,
                options.shape.tz);
    std::printf("\"exchange\": \"%s\", \"transforms\": \"%s\", \"seconds\": %.9f, \"mops\": %.3f, \"verified\": %s, ",
                name_of(options.way), transform_library(), result.seconds, megaflops(options, result),
                result.verified ? "true" : "false");
    std::printf("\"bytes_sent_per_rank\": [%lld, %lld], \"phases\": {", static_cast<long long>(result.bytes_sent[0]),
                static_cast<long long>(result.bytes_sent[1]));
    for (size_t i = 0; i < phase_count; ++i) {
        std::printf("%s\"%s\": {\"max\": %.9f, \"mean\": %.9f}", i == 0 ? "" : ", ", phase_names[i], result.most[i],
                    result.mean[i]);
    }
    std::printf("}, \"checksums\": [");
    const char* separator = "";
    for (const Complex checksum : result.checksums) {
        std::printf("%s[%.17g, %.17g]", separator, checksum.real(), checksum.imag());
        separator = ", ";
    }
    std::printf("]}\n");
}

}  // namespace ft
