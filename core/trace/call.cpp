#include "trace/call.hpp"

#include <array>
#include <utility>

namespace idlewave {
namespace {

struct Known {
    Call call;
    const char* name;
    CallGroup group;
    std::size_t least_words;
};

constexpr std::array known{
    Known{Call::init, "MPI_Init", CallGroup::other, 0},
    Known{Call::finalize, "MPI_Finalize", CallGroup::other, 0},
    Known{Call::abort, "MPI_Abort", CallGroup::other, 1},
    Known{Call::polls, "MPI_Test (nothing completed)", CallGroup::completion, 2},
    Known{Call::comm_def, "making a communicator", CallGroup::other, 3},
    Known{Call::comm_free, "MPI_Comm_free", CallGroup::other, 1},
    Known{Call::cart, "MPI_Cart_create", CallGroup::other, 2},
    Known{Call::request_free, "MPI_Request_free", CallGroup::other, 1},
    Known{Call::cancel, "MPI_Cancel", CallGroup::other, 1},
    Known{Call::start, "MPI_Start", CallGroup::point_to_point, 1},
    Known{Call::unmodelled, "a call without a record of its own", CallGroup::other, 1},
    Known{Call::tracer, "(the tracer itself)", CallGroup::other, 0},
    Known{Call::send, "MPI_Send", CallGroup::point_to_point, 3},
    Known{Call::bsend, "MPI_Bsend", CallGroup::point_to_point, 3},
    Known{Call::ssend, "MPI_Ssend", CallGroup::point_to_point, 3},
    Known{Call::rsend, "MPI_Rsend", CallGroup::point_to_point, 3},
    Known{Call::isend, "MPI_Isend", CallGroup::point_to_point, 4},
    Known{Call::ibsend, "MPI_Ibsend", CallGroup::point_to_point, 4},
    Known{Call::issend, "MPI_Issend", CallGroup::point_to_point, 4},
    Known{Call::irsend, "MPI_Irsend", CallGroup::point_to_point, 4},
    Known{Call::send_init, "MPI_Send_init", CallGroup::other, 4},
    Known{Call::recv, "MPI_Recv", CallGroup::point_to_point, 5},
    Known{Call::irecv, "MPI_Irecv", CallGroup::point_to_point, 4},
    Known{Call::recv_init, "MPI_Recv_init", CallGroup::other, 4},
    Known{Call::sendrecv, "MPI_Sendrecv", CallGroup::point_to_point, 7},
    Known{Call::probe, "MPI_Probe", CallGroup::point_to_point, 4},
    Known{Call::mprobe, "MPI_Mprobe", CallGroup::point_to_point, 5},
    Known{Call::mrecv, "MPI_Mrecv", CallGroup::point_to_point, 3},
    Known{Call::imrecv, "MPI_Imrecv", CallGroup::point_to_point, 2},
    Known{Call::wait, "MPI_Wait", CallGroup::completion, 0},
    Known{Call::waitall, "MPI_Waitall", CallGroup::completion, 0},
    Known{Call::waitany, "MPI_Waitany", CallGroup::completion, 0},
    Known{Call::waitsome, "MPI_Waitsome", CallGroup::completion, 0},
    Known{Call::test, "MPI_Test", CallGroup::completion, 0},
    Known{Call::testall, "MPI_Testall", CallGroup::completion, 0},
    Known{Call::testany, "MPI_Testany", CallGroup::completion, 0},
    Known{Call::testsome, "MPI_Testsome", CallGroup::completion, 0},
};

constexpr std::array<const char*, traced_collectives> collective_names{
    "barrier",    "bcast",          "reduce",
    "allreduce",  "gather",         "gatherv",
    "scatter",    "scatterv",       "allgather",
    "allgatherv", "alltoall",       "alltoallv",
    "alltoallw",  "reduce_scatter", "reduce_scatter_block",
    "scan",       "exscan",         "neighbor collective"};

const Known* find(Call call) {
    for (const Known& entry : known) {
        if (entry.call == call) {
            return &entry;
        }
    }
    return nullptr;
}

}  // namespace

std::string call_name(Call call) {
    if (is_collective(call)) {
        std::string name = collective_names[static_cast<std::size_t>(collective_of(call))];
        name[0] = static_cast<char>(name[0] - 'a' + 'A');
        return "MPI_" + name;
    }
    if (is_nonblocking_collective(call)) {
        return std::string("MPI_I") + collective_names[static_cast<std::size_t>(collective_of(call))];
    }
    const Known* entry = find(call);
    return entry == nullptr ? "?" : entry->name;
}

CallGroup call_group(Call call) {
    if (is_collective(call) || is_nonblocking_collective(call)) {
        return CallGroup::collective;
    }
    const Known* entry = find(call);
    return entry == nullptr ? CallGroup::other : entry->group;
}

bool least_words(Call call, std::size_t& words) {
    if (is_collective(call) || is_nonblocking_collective(call)) {
        words = is_collective(call) ? 4 : 5;
        return true;
    }
    const Known* entry = find(call);
    words = entry == nullptr ? 0 : entry->least_words;
    return entry != nullptr;
}

}  // namespace idlewave
