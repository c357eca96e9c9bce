// The FT benchmark of NASA's NAS Parallel Benchmarks: a partial differential equation solved by a three-dimensional
// Fourier transform, then at each iteration the evolution of the spectrum and the inverse transform (Bailey and others,
// The NAS Parallel Benchmarks, RNR-94-007, 1994), with the decomposition and the exchanges of Nishtala, Hargrove,
// Bonachea and Yelick (Scaling communication-intensive applications on BlueGene/P using one-sided communication and
// overlap, IPDPS 2009).
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <new>
#include <span>

#include "checksum.hpp"
#include "decomposition.hpp"
#include "domain_transform.hpp"
#include "evolution.hpp"
#include "initial_values.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "phases.hpp"
#include "report.hpp"

namespace ft {
namespace {

// Space, spectrum, and the buffers of the exchanges: going out and coming in, for each team with others.
double bytes_needed(const Decomposition& cut) {
    double arrays = 2;
    arrays += cut.plane.members > 1 ? 2 : static_cast<double>(cut.nx) * cut.ny / static_cast<double>(cut.points());
    arrays += cut.row.members > 1 ? 2 : 1;
    return arrays * static_cast<double>(cut.points()) * sizeof(Complex);
}

class Benchmark {
  public:
    Benchmark(const Options& options, const Decomposition& cut)
        : options_(options),
          cut_(cut),
          transform_(cut, options.way, phases_),
          checksum_(cut),
          values_(allocate(static_cast<size_t>(cut.points()))),
          lines_(allocate(static_cast<size_t>(cut.points()))) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &result_.ranks);
    }

    Result run() {
        // As in the original, once without being timed, so that all memory has been touched and all ways been opened.
        begin();
        transform_.take_bytes_sent();
        MPI_Barrier(MPI_COMM_WORLD);
        phases_.start(Phase::initial_values);
        begin();
        for (int iteration = 0; iteration < options_.iterations; ++iteration) iterate(iteration);
        collect(phases_.stop());
        return result_;
    }

  private:
    void begin() {
        make_initial_values(cut_, values_.get());
        transform_.forward(values_.get(), lines_.get());
    }

    void iterate(int iteration) {
        phases_.enter(Phase::evolve);
        const Evolution evolution(cut_, iteration + 1);
        transform_.inverse(lines_.get(), evolution, values_.get());
        phases_.enter(Phase::checksum);
        const Complex checksum = checksum_.of(values_.get());
        if (rank_ != 0) return;
        result_.checksums.push_back(checksum);
        if (!options_.json) print_checksum(iteration + 1, checksum);
    }

    // The results of all ranks, and the verification.
    void collect(const std::array<double, phase_count>& spent) {
        double seconds = 0;
        for (const double of_phase : spent) seconds += of_phase;
        const int64_t bytes = transform_.take_bytes_sent();
        MPI_Reduce(&seconds, &result_.seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Reduce(spent.data(), result_.most.data(), phase_count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Reduce(spent.data(), result_.mean.data(), phase_count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(&bytes, &result_.bytes_sent[0], 1, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
        MPI_Reduce(&bytes, &result_.bytes_sent[1], 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
        for (double& mean : result_.mean) mean /= result_.ranks;
        int verified = rank_ == 0 && all_published();
        MPI_Bcast(&verified, 1, MPI_INT, 0, MPI_COMM_WORLD);
        result_.verified = verified != 0;
    }

    bool all_published() const {
        for (int i = 0; i < options_.iterations; ++i) {
            if (!is_published(*options_.problem, i, result_.checksums[static_cast<size_t>(i)])) return false;
        }
        return true;
    }

    const Options& options_;
    const Decomposition& cut_;
    Phases phases_;
    DomainTransform transform_;
    Checksum checksum_;
    Memory values_;
    Memory lines_;
    int rank_ = 0;
    Result result_;
};

// Returns the exit status, the same on all ranks: 0 if all checksums are the published ones, else 1.
int solve(const Options& options, int rank, int ranks) {
    Decomposition cut = decompose(*options.problem, options.shape);
    if (rank == 0 && !options.json) print_header(options, ranks, bytes_needed(cut));
    Result result;
    {
        Benchmark benchmark(options, cut);
        result = benchmark.run();
    }
    free_teams(cut);
    if (rank == 0) options.json ? print_json(options, result) : print_result(options, result);
    return result.verified ? 0 : 1;
}

int run(std::span<char* const> words) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const Options options = read_options(words, ranks);
    if (options.help) {
        if (rank == 0) std::printf("%s", usage());
        return 0;
    }
    if (!options.wrong.empty()) {
        if (rank == 0) std::fprintf(stderr, "ft: %s\n%s", options.wrong.c_str(), usage());
        return 2;
    }
    return solve(options, rank, ranks);
}

}  // namespace
}  // namespace ft

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 1;
    try {
        status = ft::run(std::span<char* const>(argv + 1, static_cast<size_t>(argc - 1)));
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "ft: there is not enough memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ft: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return status;
}
