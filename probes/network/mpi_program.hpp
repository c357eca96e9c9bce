// A program of all ranks of a job, from MPI_Init to MPI_Finalize.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "common/failure.hpp"
#include "common/place.hpp"

namespace idlewave::probe {

inline int rank_of(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

inline int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

// If the launcher does not reach the tasks' MPI, each task is alone in its world: for example under Slurm without a
// PMI.
inline Failure wrong_number_of_ranks(const std::string& needed) {
    const int ranks = size_of(MPI_COMM_WORLD);
    std::string message = needed + " (mpiexec -n 2), found " + std::to_string(ranks);
    if (const int tasks = place_by_launcher().size; ranks == 1 && tasks > 1) {
        message += ": the launcher started " + std::to_string(tasks) +
                   " tasks, but not as one MPI job (Slurm: srun --mpi=pmix, or what else srun --mpi=list shows)";
    }
    return refused(message);
}

// Ends all ranks. Every rank finds an error in the command line: rank 0 reports it, and the others only if rank 0 has
// not. The report is given time, because an abort may outrun it.
[[noreturn]] inline void end_all_ranks(const std::string& program, const Failure& failure) {
    using namespace std::chrono_literals;
    if (failure.status() == status_usage && rank_of(MPI_COMM_WORLD) != 0) std::this_thread::sleep_for(3s);
    report(program, failure);
    std::this_thread::sleep_for(300ms);
    MPI_Abort(MPI_COMM_WORLD, failure.status());
    std::exit(failure.status());
}

// The main function of a program that runs `body` on every rank.
template <class Body>
int run_ranks(const std::string& program, int argc, char** argv, const Body& body) {
    MPI_Init(&argc, &argv);
    if (const std::optional<Failure> failure = failure_of([&] { body(argc, argv); })) end_all_ranks(program, *failure);
    MPI_Finalize();
    return 0;
}

}  // namespace idlewave::probe
