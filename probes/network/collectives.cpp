// Measures collective operations of all ranks of a job, by size: from this follows which algorithm the library uses.
//
// mpiexec -n P idlewave-collectives --output DIR [--seconds S] [--max-size B] [--seed K]
// The recording is described in collective_probe.hpp.

#include <mpi.h>

#include "common/arguments.hpp"
#include "common/stop.hpp"
#include "network/collective_probe.hpp"
#include "network/job.hpp"
#include "network/mpi_program.hpp"

namespace {

using namespace idlewave::probe;

constexpr const char* program = "idlewave-collectives";

void run(int argc, char* const* argv) {
    collectives::Options options;
    const CommandLine described{program,
                                "Measures collective operations of all ranks of a job, by size:\n"
                                "mpiexec -n P idlewave-collectives --output DIR",
                                arguments_of(options)};
    if (!parse_on_all_ranks(described, argc, argv, options.output)) return;
    stop_on_signals(patience_after_stop);
    measure(options, MPI_COMM_WORLD);
    wait_for_all_ranks();
}

}  // namespace

int main(int argc, char** argv) {
    return run_ranks(program, argc, argv, run);
}
