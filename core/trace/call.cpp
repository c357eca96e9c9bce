#include "trace/call.hpp"

#include <array>
#include <utility>

namespace idlewave::trace {
namespace {

struct CallInfo {
    Call call;
    const char* name;
    CallGroup group;
    std::size_t min_words;
};

constexpr std::array call_infos{
    CallInfo{Call::init, "MPI_Init", CallGroup::other, 0},
    CallInfo{Call::finalize, "MPI_Finalize", CallGroup::other, 0},
    CallInfo{Call::abort, "MPI_Abort", CallGroup::other, 1},
    CallInfo{Call::polls, "MPI_Test (nothing completed)", CallGroup::completion, 2},
    CallInfo{Call::comm_def, "making a communicator", CallGroup::other, 3},
    CallInfo{Call::comm_free, "MPI_Comm_free", CallGroup::other, 1},
    CallInfo{Call::cart, "MPI_Cart_create", CallGroup::other, 2},
    CallInfo{Call::request_free, "MPI_Request_free", CallGroup::other, 1},
    CallInfo{Call::cancel, "MPI_Cancel", CallGroup::other, 1},
    CallInfo{Call::start, "MPI_Start", CallGroup::point_to_point, 1},
    CallInfo{Call::unmodelled, "a call without a record of its own", CallGroup::other, 1},
    CallInfo{Call::tracer, "(the tracer itself)", CallGroup::other, 0},
    CallInfo{Call::neighbors, "the neighbours of a topology", CallGroup::other, 2},
    CallInfo{Call::send, "MPI_Send", CallGroup::point_to_point, 3},
    CallInfo{Call::bsend, "MPI_Bsend", CallGroup::point_to_point, 3},
    CallInfo{Call::ssend, "MPI_Ssend", CallGroup::point_to_point, 3},
    CallInfo{Call::rsend, "MPI_Rsend", CallGroup::point_to_point, 3},
    CallInfo{Call::isend, "MPI_Isend", CallGroup::point_to_point, 4},
    CallInfo{Call::ibsend, "MPI_Ibsend", CallGroup::point_to_point, 4},
    CallInfo{Call::issend, "MPI_Issend", CallGroup::point_to_point, 4},
    CallInfo{Call::irsend, "MPI_Irsend", CallGroup::point_to_point, 4},
    CallInfo{Call::send_init, "MPI_Send_init", CallGroup::other, 4},
    CallInfo{Call::psend_init, "MPI_Psend_init", CallGroup::other, 5},
    CallInfo{Call::pready, "MPI_Pready", CallGroup::point_to_point, 2},
    CallInfo{Call::parrived, "MPI_Parrived", CallGroup::completion, 2},
    CallInfo{Call::recv, "MPI_Recv", CallGroup::point_to_point, 5},
    CallInfo{Call::irecv, "MPI_Irecv", CallGroup::point_to_point, 4},
    CallInfo{Call::recv_init, "MPI_Recv_init", CallGroup::other, 4},
    CallInfo{Call::sendrecv, "MPI_Sendrecv", CallGroup::point_to_point, 7},
    CallInfo{Call::probe, "MPI_Probe", CallGroup::point_to_point, 4},
    CallInfo{Call::mprobe, "MPI_Mprobe", CallGroup::point_to_point, 5},
    CallInfo{Call::mrecv, "MPI_Mrecv", CallGroup::point_to_point, 3},
    CallInfo{Call::imrecv, "MPI_Imrecv", CallGroup::point_to_point, 2},
    CallInfo{Call::isendrecv, "MPI_Isendrecv", CallGroup::point_to_point, 6},
    CallInfo{Call::precv_init, "MPI_Precv_init", CallGroup::other, 5},
    CallInfo{Call::thread, "(another thread)", CallGroup::other, 1},
    CallInfo{Call::wait, "MPI_Wait", CallGroup::completion, 0},
    CallInfo{Call::waitall, "MPI_Waitall", CallGroup::completion, 0},
    CallInfo{Call::waitany, "MPI_Waitany", CallGroup::completion, 0},
    CallInfo{Call::waitsome, "MPI_Waitsome", CallGroup::completion, 0},
    CallInfo{Call::test, "MPI_Test", CallGroup::completion, 0},
    CallInfo{Call::testall, "MPI_Testall", CallGroup::completion, 0},
    CallInfo{Call::testany, "MPI_Testany", CallGroup::completion, 0},
    CallInfo{Call::testsome, "MPI_Testsome", CallGroup::completion, 0},
    CallInfo{Call::window, "making a window", CallGroup::one_sided, 3},
    CallInfo{Call::window_free, "MPI_Win_free", CallGroup::one_sided, 1},
    CallInfo{Call::one_sided, "a put, get or accumulate", CallGroup::one_sided, 4},
    CallInfo{Call::win_fence, "MPI_Win_fence", CallGroup::one_sided, 1},
    CallInfo{Call::win_post, "MPI_Win_post", CallGroup::one_sided, 2},
    CallInfo{Call::win_start, "MPI_Win_start", CallGroup::one_sided, 2},
    CallInfo{Call::win_complete, "MPI_Win_complete", CallGroup::one_sided, 1},
    CallInfo{Call::win_wait, "MPI_Win_wait", CallGroup::one_sided, 1},
    CallInfo{Call::passive_target, "a lock, unlock or flush", CallGroup::one_sided, 2},
    CallInfo{Call::core_wait, "(waits for a core)", CallGroup::other, 3},
    CallInfo{Call::pcontrol, "MPI_Pcontrol", CallGroup::other, 1},
    CallInfo{Call::file_open, "MPI_File_open", CallGroup::file, 2},
    CallInfo{Call::file_close, "MPI_File_close", CallGroup::file, 1},
    CallInfo{Call::file, "a call of a file", CallGroup::file, 3},
};

constexpr std::array<const char*, traced_collectives> collective_names{
    "barrier",    "bcast",          "reduce",
    "allreduce",  "gather",         "gatherv",
    "scatter",    "scatterv",       "allgather",
    "allgatherv", "alltoall",       "alltoallv",
    "alltoallw",  "reduce_scatter", "reduce_scatter_block",
    "scan",       "exscan",         "neighbor collective"};

/// By number of the call, where in `call_infos` it is, plus one.
constexpr auto positions = [] {
    std::array<std::uint8_t, static_cast<std::size_t>(Call::collectives)> found{};
    for (std::size_t i = 0; i < call_infos.size(); ++i) {
        found[static_cast<std::size_t>(call_infos[i].call)] = static_cast<std::uint8_t>(i + 1);
    }
    return found;
}();

const CallInfo* find(Call call) {
    const auto number = static_cast<std::size_t>(call);
    return number >= positions.size() || positions[number] == 0 ? nullptr : &call_infos[positions[number] - 1];
}

}  // namespace

std::string call_name(Call call) {
    if (is_collective(call)) {
        std::string name = collective_names[static_cast<std::size_t>(collective_of(call))];
        name[0] = static_cast<char>(name[0] - 'a' + 'A');
        return "MPI_" + name;
    }
    if (is_collective_init(call)) {
        return call_name(static_cast<Call>(static_cast<std::uint16_t>(call) - 128)) + "_init";
    }
    if (is_nonblocking_collective(call)) {
        return std::string("MPI_I") + collective_names[static_cast<std::size_t>(collective_of(call))];
    }
    const CallInfo* entry = find(call);
    return entry == nullptr ? "?" : entry->name;
}

CallGroup call_group(Call call) {
    if (is_collective(call) || is_nonblocking_collective(call)) {
        return CallGroup::collective;
    }
    const CallInfo* entry = find(call);
    return entry == nullptr ? CallGroup::other : entry->group;
}

bool min_words(Call call, std::size_t& words) {
    if (is_collective(call) || is_nonblocking_collective(call) || is_collective_init(call)) {
        words = is_collective(call) ? 4 : 5;
        return true;
    }
    const CallInfo* entry = find(call);
    words = entry == nullptr ? 0 : entry->min_words;
    return entry != nullptr;
}

}  // namespace idlewave::trace
