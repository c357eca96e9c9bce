// The samples from which a network's parameters are estimated, between two MPI ranks.
//
// mpiexec -n 2 idlewave-loggp --output DIR [--transport mpi|put|get|...] [options]
// Samples go to DIR as they come; lines "progress FRACTION" and at last a JSON summary to standard output.

#include <mpi.h>

#include <string>
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
#include "network/socket_transports.hpp"
#include "network/transports/mpi.hpp"
#include "network/transports/one_sided.hpp"

namespace {

using namespace idlewave::probe;
using namespace idlewave::probe::network;

constexpr const char* program = "idlewave-loggp";

std::vector<std::string> names() {
    std::vector<std::string> result = {MpiData::name, PutData::name, GetData::name};
    for (const std::string& name : transport_names()) result.push_back(name);
    return result;
}

bool same_node() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int size = 0;
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size == 2;
}

template <class Data>
void run_with(Data& data, MpiControl& control, bool server, const Arguments& arguments, const ProcessPlace& place,
              const json::Object& library) {
    ProcessorClock clock;
    run_side(Side<Data, MpiControl, ProcessorClock>{data, control, clock}, server, arguments.settings, place, library);
}

void measure(const Arguments& arguments, int rank) {
    const bool server = rank == 1;
    const bool one_node = same_node();
    const ProcessPlace place = take_place(server);
    const json::Object library = server ? json::Object() : describe_library(one_node);
    const MpiPair pair{MPI_COMM_WORLD, 1 - rank};
    MpiControl control(pair);
    const int max_size = arguments.settings.max_size;
    const std::string name = arguments.transport.empty() ? MpiData::name : arguments.transport;
    if (name == MpiData::name) {
        MpiData data(pair, max_size);
        return run_with(data, control, server, arguments, place, library);
    }
    if (name == PutData::name) {
        PutData data(pair, max_size);
        return run_with(data, control, server, arguments, place, library);
    }
    if (name == GetData::name) {
        GetData data(pair, max_size);
        return run_with(data, control, server, arguments, place, library);
    }
    const SocketPlace where{server, arguments.address, arguments.timeout};
    with_transport(name, control, where, max_size, arguments.provider,
                   [&](auto& data) { run_with(data, control, server, arguments, place, library); });
}

void run(int argc, char* const* argv) {
    Arguments arguments;
    const int rank = rank_of(MPI_COMM_WORLD);
    const CommandLine described{program,
                                "Takes the samples from which a network's parameters are estimated, between two "
                                "ranks:\nmpiexec -n 2 idlewave-loggp --output DIR",
                                common_arguments(arguments)};
    if (!parse(described, argc, argv, rank == 0)) return;
    if (arguments.list_transports) {
        if (rank == 0) print_line(json::value(names()).text);
        return;
    }
    if (size_of(MPI_COMM_WORLD) != 2) throw wrong_number_of_ranks("two ranks are needed");
    require_output(arguments);
    if (!arguments.transport.empty()) check_transport(arguments.transport, names());
    stop_on_signals(patience_after_stop);
    if (rank == 0) make_folder(arguments.settings.output);
    measure(arguments, rank);
}

}  // namespace

int main(int argc, char** argv) {
    return run_ranks(program, argc, argv, run);
}
