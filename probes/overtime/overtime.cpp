// A network over time: latency, bandwidth and allreduce in turn, each followed by an idle phase.
//
// mpiexec -n N idlewave-overtime [--seconds S] [--phase S] [--idle F] [--gap S] [--sizes B,B,B] [--peers N] [--seed K]
// What it prints is described in rounds.hpp.

#include <mpi.h>

#include "common/arguments.hpp"
#include "common/stop.hpp"
#include "network/job.hpp"
#include "network/mpi_program.hpp"
#include "overtime/rounds.hpp"

namespace {

using namespace idlewave::probe;

constexpr const char* program = "idlewave-overtime";

void run(int argc, char* const* argv) {
    overtime::Options options;
    const CommandLine described{program,
                                "Measures latency, bandwidth and allreduce in turn, each followed by an idle phase, "
                                "and prints a line a phase:\nmpiexec -n N idlewave-overtime --seconds 600",
                                arguments_of(options)};
    if (!parse(described, argc, argv, rank_of(MPI_COMM_WORLD) == 0)) return;
    if (size_of(MPI_COMM_WORLD) < 2) throw wrong_number_of_ranks("at least two ranks are needed");
    check(options, size_of(MPI_COMM_WORLD));
    stop_on_signals(patience_after_stop);
    overtime::measure(options);
    wait_for_all_ranks();
}

}  // namespace

int main(int argc, char** argv) {
    return run_ranks(program, argc, argv, run);
}
