// The samples from which a network's parameters are estimated, between two MPI ranks.
//
// mpiexec -n 2 idlewave-loggp --output DIR [--transport mpi|put|get|...] [options]
// Samples go to DIR as they come; lines "progress FRACTION" and at last a JSON summary to standard output.

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/files.hpp"
#include "common/output.hpp"
#include "common/stop.hpp"
#include "network/arguments.hpp"
#include "network/hello.hpp"
#include "network/mpi_loggp.hpp"
#include "network/mpi_program.hpp"
#include "network/run_side.hpp"
#include "network/transports.hpp"
#include "network/transports/mpi.hpp"
#include "network/transports/one_sided.hpp"

namespace {

using namespace idlewave::probe;
using namespace idlewave::probe::network;

constexpr const char* program = "idlewave-loggp";

using Transports = LocalTransports::behind<MpiData, PutData, GetData>;

void run(int argc, char* const* argv) {
    Arguments arguments;
    const int rank = rank_of(MPI_COMM_WORLD);
    const CommandLine described{program,
                                "Takes the samples from which a network's parameters are estimated, between two "
                                "ranks:\nmpiexec -n 2 idlewave-loggp --output DIR",
                                common_arguments(arguments)};
    if (!parse(described, argc, argv, rank == 0)) return;
    if (size_of(MPI_COMM_WORLD) != 2) throw wrong_number_of_ranks("two ranks are needed");
    require_output(arguments);
    if (!arguments.transport.empty()) check_transport(arguments.transport, Transports::names());
    stop_on_signals(patience_after_stop);
    if (rank == 0) make_folder(arguments.settings.output);
    measure_between<Transports>(MPI_COMM_WORLD, arguments, take_place(rank == 1));
}

}  // namespace

// --transports needs no other rank: it is handled before MPI_Init, so that no launcher is needed.
int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (std::find(words.begin(), words.end(), "--transports") != words.end()) {
        print_line(Transports::describe_all());
        return 0;
    }
    return run_ranks(program, argc, argv, run);
}
