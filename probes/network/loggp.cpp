// The samples from which a network's parameters are estimated, between two MPI ranks.
//
// mpiexec -n 2 idlewave-loggp --output DIR [--transport mpi|put|get|...] [options]
// Samples go to DIR as they come; lines "progress FRACTION" and at last a JSON summary to standard output.

#include <mpi.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "common/files.hpp"
#include "common/json.hpp"
#include "common/output.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "network/arguments.hpp"
#include "network/eager_limit.hpp"
#include "network/hello.hpp"
#include "network/mpi_program.hpp"
#include "network/processor_clock.hpp"
#include "network/run_side.hpp"
#include "network/transports.hpp"
#include "network/transports/mpi.hpp"
#include "network/transports/one_sided.hpp"

namespace {

using namespace idlewave::probe;
using namespace idlewave::probe::network;

constexpr const char* program = "idlewave-loggp";

using Transports = LocalTransports::behind<MpiData, PutData, GetData>;

bool on_one_node() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int size = 0;
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size == 2;
}

void measure(const Arguments& arguments, int rank) {
    const bool server = rank == 1;
    const bool one_node = on_one_node();
    const ProcessPlace place = take_place(server);
    const json::Object library = server ? json::Object() : describe_library(one_node);
    MpiControl control(MpiPair{MPI_COMM_WORLD, 1 - rank});
    const std::string name = arguments.transport.empty() ? MpiData::traits.name : arguments.transport;
    Transports::with(name, control, connection_of(arguments, server), [&](auto& data) {
        ProcessorClock clock;
        const Side<std::decay_t<decltype(data)>, MpiControl, ProcessorClock> side{data, control, clock};
        run_side(side, server, arguments.settings, place, library);
    });
}

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
    measure(arguments, rank);
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
