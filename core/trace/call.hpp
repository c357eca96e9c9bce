#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace idlewave::trace {

/// The call that a record of a trace describes (docs/trace-format.md). Collective c is `collectives + c`, nonblocking
/// `nonblocking_collectives + c`, and persistent `collective_inits + c`.
enum class Call : std::uint16_t {
    end_of_file = 0,
    init = 1,
    finalize = 2,
    abort = 3,
    polls = 4,
    comm_def = 5,
    comm_free = 6,
    cart = 7,
    request_free = 8,
    cancel = 9,
    start = 10,
    unmodelled = 11,
    tracer = 12,
    neighbors = 13,
    window = 14,
    window_free = 15,
    send = 16,
    bsend = 17,
    ssend = 18,
    rsend = 19,
    isend = 20,
    ibsend = 21,
    issend = 22,
    irsend = 23,
    send_init = 24,
    psend_init = 25,
    pready = 26,
    parrived = 27,
    one_sided = 28,
    file_open = 29,
    file_close = 30,
    file = 31,
    recv = 32,
    irecv = 33,
    recv_init = 34,
    sendrecv = 35,
    probe = 36,
    mprobe = 37,
    mrecv = 38,
    imrecv = 39,
    isendrecv = 40,
    precv_init = 41,
    thread = 42,
    wait = 48,
    waitall = 49,
    waitany = 50,
    waitsome = 51,
    test = 52,
    testall = 53,
    testany = 54,
    testsome = 55,
    win_fence = 56,
    win_post = 57,
    win_start = 58,
    win_complete = 59,
    win_wait = 60,
    passive_target = 61,
    core_wait = 62,
    pcontrol = 63,
    collectives = 64,
    nonblocking_collectives = 128,
    collective_inits = 192
};

/// The collective operations in the numbering of traces.
enum class TracedCollective : std::uint8_t {
    barrier,
    bcast,
    reduce,
    allreduce,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
    neighbor
};

inline constexpr std::uint16_t traced_collectives = 18;

// Numbers that stand for no rank of a communicator.
inline constexpr std::int32_t any_source = -1;
inline constexpr std::int32_t proc_null = -2;
inline constexpr std::int32_t not_known = -3;
/// The target of a lock or flush of all ranks.
inline constexpr std::int32_t every_rank_of_window = -1;
inline constexpr std::int32_t mpi_root = -4;  ///< MPI_ROOT: the caller is the root, for the other group

/// The group of a call, by which the time of a rank is divided.
enum class CallGroup : std::uint8_t { point_to_point, completion, collective, one_sided, file, other };

/// The name of the MPI function, such as "MPI_Isend", or what its functions do where one number stands for several; "?"
/// for an unknown number.
std::string call_name(Call call);

CallGroup call_group(Call call);

/// Sets `words` to the least number of words of a record of `call`. False for an unknown number.
bool min_words(Call call, std::size_t& words);

inline bool is_collective(Call call) {
    const auto number = static_cast<std::uint16_t>(call);
    return number >= 64 && number < 64 + traced_collectives;
}

inline bool is_nonblocking_collective(Call call) {
    const auto number = static_cast<std::uint16_t>(call);
    return number >= 128 && number < 128 + traced_collectives;
}

inline bool is_collective_init(Call call) {
    const auto number = static_cast<std::uint16_t>(call);
    return number >= 192 && number < 192 + traced_collectives;
}

inline TracedCollective collective_of(Call call) {
    return static_cast<TracedCollective>(static_cast<std::uint16_t>(call) % 64);
}

}  // namespace idlewave::trace
