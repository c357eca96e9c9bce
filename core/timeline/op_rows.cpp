#include "timeline/op_rows.hpp"

#include <algorithm>
#include <span>

#include "collectives/call_name.hpp"
#include "machine/variation.hpp"
#include "timeline/answered_ops.hpp"
#include "timeline/spans.hpp"

namespace idlewave::timeline {
namespace {

/// The activity of a cause; null if it was not recorded.
const loggops::ActivityRecord* activity_of(const loggops::SimulationRecord& record, const loggops::Cause& cause) {
    return cause.recorded() ? &record.activities[cause.rank][cause.index] : nullptr;
}

/// The op of the activity; -1 if none is known.
std::int64_t op_of(const loggops::SimulationRecord& record, const loggops::Cause& cause) {
    const loggops::ActivityRecord* done = activity_of(record, cause);
    return done == nullptr || done->activity.op_index == goal::unknown_op_index ? -1
                                                                                : std::int64_t{done->activity.op_index};
}

CauseKind kind_of(loggops::Point point) {
    switch (point) {
        case loggops::Point::start:
            return CauseKind::none;
        case loggops::Point::sender_gap:
        case loggops::Point::receiver_gap:
            return CauseKind::nic;
        case loggops::Point::arrival:
        case loggops::Point::acknowledged:
            return CauseKind::message;
        default:
            return CauseKind::end;
    }
}

/// Writes the cause, its rank and its op into the row. `answered` are the ops of its rank.
void blame(OpRow& row, const loggops::SimulationRecord& record, const loggops::Cause& cause,
           const AnsweredOps& answered) {
    row.cause = kind_of(cause.point);
    row.cause_rank = cause.known() ? std::int64_t{cause.rank} : -1;
    row.cause_op = op_of(record, cause);
    if (const std::int64_t ended = answered.op_of(cause); ended >= 0) {
        row.cause = CauseKind::end;
        row.cause_rank = std::int64_t{row.op.rank};
        row.cause_op = ended;
    }
}

/// What could begin at `ready` and began only at `start` waited for the resource that was free only then.
void blame_resource(OpRow& row, const loggops::SimulationRecord& record, Time ready, const loggops::CausedTime& start,
                    const AnsweredOps& answered) {
    if (start.time <= ready) {
        return;
    }
    row.state = kind_of(start.cause.point) == CauseKind::nic ? WaitState::nic : WaitState::cpu;
    blame(row, record, start.cause, answered);
    row.cause = row.state == WaitState::nic ? CauseKind::nic : CauseKind::cpu;
}

/// An op waits for its CPU, and a send for its NIC, too, before it starts. A put, get, lock or unlock waits for its NIC
/// after that, from when its CPU has handed it over. Of the two waits the longer one counts.
void explain_start(OpRow& row, const loggops::SimulationRecord& record, const AnsweredOps& answered) {
    const loggops::OpRecord& op = row.op;
    blame(row, record, op.ready.cause, answered);
    row.wait = op.start.time - op.ready.time;
    if (goal::is_one_sided(op.kind) && op.transmitted.time - op.handed_over > row.wait) {
        row.wait = op.transmitted.time - op.handed_over;
        blame_resource(row, record, op.handed_over, op.transmitted, answered);
    } else {
        blame_resource(row, record, op.ready.time, op.start, answered);
    }
}

/// The activity that ends an op. That of a one-sided op is at its target; add_activities knows its own.
void explain_end(OpRow& row, const loggops::SimulationRecord& record) {
    const loggops::ActivityRecord* last = activity_of(record, row.op.end.cause);
    row.work = last == nullptr ? row.op.start.time : last->start.time;
    row.free = last == nullptr ? row.op.end.time : last->free;
}

/// A receive waits for its message, then for the CPU and the NIC that receive it. An await waits for a put likewise.
void explain_receive(OpRow& row, const loggops::SimulationRecord& record, const AnsweredOps& answered) {
    const loggops::OpRecord& op = row.op;
    const loggops::Cause& sent = op.arrived.cause;
    row.match_rank = sent.rank;
    row.match_op = op_of(record, sent);
    const loggops::ActivityRecord* received = activity_of(record, op.processed.cause);
    const loggops::CausedTime reception = received == nullptr ? op.data_arrived : received->start;
    row.work = reception.time;
    row.free = received == nullptr ? op.processed.time : received->free;
    const Time here = std::max(op.start.time, op.data_arrived.time);
    blame(row, record, op.end.time > op.processed.time ? op.start.cause : sent, answered);
    if (op.arrived.time > op.start.time) {
        row.wait = reception.time - op.start.time;
        row.state = collectives::call_name(op.call).collective ? WaitState::wait_at_collective : WaitState::late_sender;
    } else if (reception.time > here) {
        row.wait = reception.time - here;
        blame_resource(row, record, here, reception, answered);
    } else if (op.start.time > op.ready.time) {  // for the CPU, which posts the receive
        row.wait = op.start.time - op.ready.time;
        blame_resource(row, record, op.ready.time, op.start, answered);
    }
}

/// A request to send that arrived before its receive was posted makes the sender wait.
void explain_late_receiver(const OpRow& receive, OpRow& send) {
    const Time late = receive.op.start.time - receive.op.arrived.time;
    if (late <= send.wait) {
        return;  // an op has one wait: the longer one
    }
    send.wait = late;
    send.state = WaitState::late_receiver;
    send.cause = CauseKind::end;
    send.cause_rank = receive.op.rank;
    send.cause_op = receive.op.op_index;
}

/// The row of an op among the rows of its rank; null if it was not recorded.
OpRow* row_of(std::span<OpRow> rows, std::int64_t op_index) {
    const auto found = std::lower_bound(rows.begin(), rows.end(), op_index,
                                        [](const OpRow& row, std::int64_t wanted) { return row.op.op_index < wanted; });
    return found != rows.end() && found->op.op_index == op_index ? &*found : nullptr;
}

/// The point at which the CPU is free after an activity.
loggops::Point point_after(loggops::ActivityKind kind) {
    switch (kind) {
        case loggops::ActivityKind::transmission:
        case loggops::ActivityKind::initiation:
            return loggops::Point::sender_free;
        case loggops::ActivityKind::reception:
            return loggops::Point::receiver_free;
        case loggops::ActivityKind::posting:
            return loggops::Point::posted;
        case loggops::ActivityKind::landing:
        case loggops::ActivityKind::nic_transmission:
            return loggops::Point::start;  // no CPU takes part
        case loggops::ActivityKind::computation:
            break;
    }
    return loggops::Point::computed;
}

/// Adds the length of the detours in each activity to the op of that activity, and to a one-sided op what its CPU does.
void add_activities(std::span<OpRow> rows, const std::vector<loggops::ActivityRecord>& activities,
                    const machine::Machine& machine) {
    for (const loggops::ActivityRecord& done : activities) {
        const loggops::Activity& activity = done.activity;
        OpRow* row = activity.op_index == goal::unknown_op_index ? nullptr : row_of(rows, activity.op_index);
        if (row == nullptr) {
            continue;
        }
        const loggops::Point point = point_after(activity.kind);
        if (goal::is_one_sided(row->op.kind) && point != loggops::Point::start) {
            row->work = done.start.time;  // most end by what happens at their target
            row->free = done.free;
        }
        row->noise += spans_of(activity, point, done.start.time, done.free, machine).noise;
    }
}

/// The unlock among the ops of a rank whose message landed at rank `target` in the activity `landed`; null if that is
/// not known.
const OpRow* unlock_of(std::span<OpRow> rows, const loggops::SimulationRecord& record, std::uint32_t target,
                       std::uint32_t tag, const loggops::ActivityRecord& landed) {
    if (landed.start.cause.point == loggops::Point::arrival) {
        return row_of(rows, op_of(record, landed.start.cause));
    }
    // It waited for the NIC or the CPU. No other unlock may have been under way that could be meant.
    const OpRow* found = nullptr;
    for (const OpRow& row : rows) {
        const loggops::OpRecord& op = row.op;
        if (op.kind != goal::OpKind::unlock || op.peer != target || op.tag != tag ||
            op.start.time > landed.start.time || op.end.time < landed.start.time) {
            continue;
        }
        if (found != nullptr) {
            return nullptr;
        }
        found = &row;
    }
    return found;
}

/// The arrival of the request of a lock at the rank that has it. The grant, which departed at `granted`, had the same
/// L, unless L varies.
Time request_arrival(const loggops::OpRecord& lock, Time granted, const machine::Machine& machine) {
    using machine::LevelKind;
    const bool within_node = machine.node && lock.rank / machine.node_ranks == lock.peer / machine.node_ranks;
    const LevelKind level = machine.one_sided ? LevelKind::one_sided
                            : within_node     ? LevelKind::node
                                              : LevelKind::network;
    if (!machine.varies(level)) {
        return lock.transmitted.time + (lock.end.time - granted);
    }
    return machine::VariationCursor(machine.variation).arrival(lock.transmitted.time, machine.level(level).of(1).L);
}

/// A lock that an unlock allowed has waited from the arrival of its request at the rank that has it until then.
void explain_contention(OpRow& lock, const loggops::ActivityRecord& landed, const OpRow* unlock,
                        const machine::Machine& machine) {
    const Time granted = landed.free;  // when the message of one byte has landed
    const Time waited = granted - request_arrival(lock.op, granted, machine);
    if (waited <= lock.wait) {
        return;  // an op has one wait: the longer one
    }
    lock.wait = waited;
    lock.state = WaitState::lock_contention;
    lock.cause = CauseKind::message;
    lock.cause_rank = std::int64_t{landed.activity.peer};
    lock.cause_op = unlock == nullptr ? -1 : std::int64_t{unlock->op.op_index};
}

/// The activity in which the unlock landed that allowed this lock; null if no unlock did, or the end of the lock was
/// noticed later.
const loggops::ActivityRecord* allowed_by(const loggops::SimulationRecord& record, const OpRow& row) {
    const loggops::Cause& cause = row.op.end.cause;
    const bool locks = row.op.kind == goal::OpKind::lock || row.op.kind == goal::OpKind::shared_lock;
    const loggops::ActivityRecord* landed =
        locks && cause.point == loggops::Point::acknowledged ? activity_of(record, cause) : nullptr;
    return landed != nullptr && landed->activity.message == loggops::MessageKind::unlock ? landed : nullptr;
}

bool by_rendezvous(const loggops::SimulationRecord& record, const OpRow& receive) {
    const loggops::ActivityRecord* sent = activity_of(record, receive.op.arrived.cause);
    return sent != nullptr && sent->activity.message == loggops::MessageKind::request_to_send;
}

}  // namespace

std::vector<OpRow> op_rows(const loggops::SimulationRecord& record, const machine::Machine& machine) {
    std::vector<OpRow> rows;
    std::vector<std::size_t> first;
    for (const std::vector<loggops::OpRecord>& own : record.ops) {
        first.push_back(rows.size());
        const AnsweredOps answered(own);
        for (const loggops::OpRecord& op : own) {
            OpRow& row = rows.emplace_back();
            row.op = op;
            if (goal::is_receiving(op.kind)) {
                explain_receive(row, record, answered);
            } else {
                explain_start(row, record, answered);
                explain_end(row, record);
            }
        }
        const std::size_t rank = first.size() - 1;
        add_activities(std::span(rows).subspan(first[rank]), record.activities[rank], machine);
    }
    first.push_back(rows.size());
    const auto rows_of_rank = [&rows, &first](std::size_t rank) {
        return std::span(rows).subspan(first[rank], first[rank + 1] - first[rank]);
    };
    for (OpRow& row : rows) {
        if (row.op.kind == goal::OpKind::recv && by_rendezvous(record, row)) {
            if (OpRow* send = row_of(rows_of_rank(static_cast<std::size_t>(row.match_rank)), row.match_op)) {
                explain_late_receiver(row, *send);
            }
        }
        if (const loggops::ActivityRecord* landed = allowed_by(record, row)) {
            explain_contention(row, *landed,
                               unlock_of(rows_of_rank(landed->activity.peer), record, row.op.peer, row.op.tag, *landed),
                               machine);
        }
    }
    return rows;
}

}  // namespace idlewave::timeline
