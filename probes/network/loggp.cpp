// The samples from which a network's parameters are estimated, between two MPI ranks.
//
// mpiexec -n 2 idlewave-loggp --output DIR [--transport mpi|put|get|...] [options]
// Samples go to DIR as they come; lines "progress FRACTION" and at last a JSON summary to standard output.

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include "network/arguments.hpp"
#include "network/eager_limit.hpp"
#include "network/hello.hpp"
#include "network/interrupt.hpp"
#include "network/processor_clock.hpp"
#include "network/run_side.hpp"
#include "network/socket_transports.hpp"
#include "network/transports/mpi.hpp"
#include "network/transports/one_sided.hpp"

namespace {

using namespace idlewave::network;

constexpr const char* usage =
    "usage: mpiexec -n 2 idlewave-loggp --output DIR [--transport T] [--seconds S] [--max-size BYTES] [--train N]\n"
    "                                   [--repetitions R] [--width PART] [--seed K] [--address A] [--provider P]\n"
    "       idlewave-loggp --transports       which transports there are, as JSON\n";

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

// Both ranks have one CPU each, or the server would answer only when the client is out of its time.
void refuse_one_cpu_for_both(const Place& mine, bool one_node) {
    std::array<int, 2> cpus{};
    MPI_Allgather(&mine.cpu, 1, MPI_INT, cpus.data(), 1, MPI_INT, MPI_COMM_WORLD);
    if (one_node && cpus[0] == cpus[1] && cpus[0] >= 0) {
        throw Failure("both ranks are bound to CPU " + std::to_string(cpus[0]) + "; they need one each");
    }
}

template <class Data>
void run_with(Data& data, MpiControl& control, bool server, const Arguments& arguments, const Place& place,
              const JsonObject& library) {
    ProcessorClock clock;
    run_side(Side<Data, MpiControl, ProcessorClock>{data, control, clock}, server, arguments.settings, place, library);
}

void measure(const Arguments& arguments, int rank) {
    const bool server = rank == 1;
    const bool one_node = same_node();
    const Place place = take_place(server);
    refuse_one_cpu_for_both(place, one_node);
    const JsonObject library = server ? JsonObject() : describe_library(one_node);
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

void run(int argc, char** argv) {
    const Arguments arguments = parse(argc, argv, {"listen", "connect", "network", "scatter", "hits"});
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (arguments.help || arguments.list_transports) {
        if (rank == 0) std::printf("%s\n", arguments.help ? usage : json_list(names(), quoted).c_str());
        return;
    }
    if (ranks != 2) throw WrongUse("two ranks are needed (mpiexec -n 2), found " + std::to_string(ranks));
    if (arguments.settings.output.empty()) throw WrongUse("--output is needed");
    if (!arguments.transport.empty()) check_transport(arguments.transport, names());
    if (rank == 0) make_folder(arguments.settings.output);
    measure(arguments, rank);
}

// All ranks end. An abort may outrun the words just written.
int fail(const std::exception& error, int status) {
    std::fprintf(stderr, "idlewave-loggp: %s\n", error.what());
    std::fflush(stderr);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    MPI_Abort(MPI_COMM_WORLD, status);
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    catch_interrupts();
    try {
        run(argc, argv);
    } catch (const WrongUse& error) {
        return fail(error, 2);
    } catch (const std::exception& error) {
        return fail(error, 1);
    }
    MPI_Finalize();
    return 0;
}
