#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "loggops/recorder.hpp"
#include "machine/machine.hpp"

namespace idlewave::timeline {

/// The reason for which an op waited.
enum class WaitState : std::uint8_t {
    none,
    late_sender,         ///< a receive was posted, or an await started, before its message or its put arrived
    late_receiver,       ///< a request to send arrived before its receive was posted
    wait_at_collective,  ///< a late sender in a collective operation
    cpu,                 ///< the CPU was busy
    nic,                 ///< the NIC was busy
    lock_contention      ///< others had the lock
};

/// The kind of event that ended the wait of an op.
enum class CauseKind : std::uint8_t { none, end, cpu, nic, message };

/// A recorded op with its wait and its cause.
struct OpRow {
    loggops::OpRecord op;
    Time work = 0;   ///< the CPU begins its last activity for the op: the send, the initiation, the reception, the calc
    Time free = 0;   ///< the CPU is done with that activity
    Time noise = 0;  ///< the length of the detours in the op's CPU time
    Time wait = 0;
    WaitState state = WaitState::none;
    CauseKind cause = CauseKind::none;
    std::int64_t cause_rank = -1;
    std::int64_t cause_op = -1;
    std::int64_t match_rank = -1;  ///< of a receive or an await: the sender of its message
    std::int64_t match_op = -1;
};

/// All ops, in the order (rank, op index).
std::vector<OpRow> op_rows(const loggops::SimulationRecord& record, const machine::Machine& machine);

}  // namespace idlewave::timeline
