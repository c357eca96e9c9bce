#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "loggops/recorder.hpp"
#include "machine/machine.hpp"

namespace idlewave {

/// Why an op did not go on at once.
enum class WaitState : std::uint8_t {
    none,
    late_sender,         ///< a receive was posted before its message, or the request for it, had come
    late_receiver,       ///< a rendezvous was asked for before its receive was posted
    wait_at_collective,  ///< a late sender in a collective operation
    cpu,                 ///< the CPU was at something else
    nic                  ///< the NIC was not ready for another message
};

/// What decided when an op could go on.
enum class CauseKind : std::uint8_t { none, end, cpu, nic, message };

/// What is known of an op that has run.
struct OpRow {
    OpRecord op;
    Time work = 0;   ///< the CPU begins what ends the op: the send, the reception, the calc
    Time free = 0;   ///< the CPU is done with that
    Time noise = 0;  ///< that detours took from the op's CPU time
    Time wait = 0;
    WaitState state = WaitState::none;
    CauseKind cause = CauseKind::none;
    std::int64_t cause_rank = -1;
    std::int64_t cause_op = -1;
    std::int64_t match_rank = -1;  ///< of a receive: whose message it took
    std::int64_t match_op = -1;
};

/// All ops, in the order (rank, place).
std::vector<OpRow> op_rows(const Record& record, const Machine& machine);

}  // namespace idlewave
