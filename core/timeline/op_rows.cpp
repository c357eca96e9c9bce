#include "timeline/op_rows.hpp"

#include <algorithm>
#include <span>

#include "collectives/call_name.hpp"
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

/// Writes the cause, its rank and its op into the row.
void blame(OpRow& row, const loggops::SimulationRecord& record, const loggops::Cause& cause) {
    row.cause = kind_of(cause.point);
    row.cause_rank = cause.known() ? std::int64_t{cause.rank} : -1;
    row.cause_op = op_of(record, cause);
}

/// An op that was ready at `ready` and started later waited for the resource that was free only at `start`.
void blame_resource(OpRow& row, const loggops::SimulationRecord& record, Time ready, const loggops::CausedTime& start) {
    if (start.time <= ready) {
        return;
    }
    row.state = kind_of(start.cause.point) == CauseKind::nic ? WaitState::nic : WaitState::cpu;
    blame(row, record, start.cause);
    row.cause = row.state == WaitState::nic ? CauseKind::nic : CauseKind::cpu;
}

/// A send or a calc waits for its CPU, and a send for its NIC.
void explain_start(OpRow& row, const loggops::SimulationRecord& record) {
    row.wait = row.op.start.time - row.op.ready.time;
    blame(row, record, row.op.ready.cause);
    blame_resource(row, record, row.op.ready.time, row.op.start);
    const loggops::ActivityRecord* last = activity_of(record, row.op.end.cause);
    row.work = last == nullptr ? row.op.start.time : last->start.time;
    row.free = last == nullptr ? row.op.end.time : last->free;
}

/// A receive waits for its message, then for the CPU and the NIC that receive it.
void explain_receive(OpRow& row, const loggops::SimulationRecord& record) {
    const loggops::OpRecord& op = row.op;
    const loggops::Cause& sent = op.arrived.cause;
    row.match_rank = sent.rank;
    row.match_op = op_of(record, sent);
    const loggops::ActivityRecord* received = activity_of(record, op.processed.cause);
    const loggops::CausedTime reception = received == nullptr ? op.data_arrived : received->start;
    row.work = reception.time;
    row.free = received == nullptr ? op.processed.time : received->free;
    const Time here = std::max(op.start.time, op.data_arrived.time);
    blame(row, record, op.end.time > op.processed.time ? op.start.cause : sent);
    if (op.arrived.time > op.start.time) {
        row.wait = reception.time - op.start.time;
        row.state = collectives::call_name(op.call).collective ? WaitState::wait_at_collective : WaitState::late_sender;
    } else if (reception.time > here) {
        row.wait = reception.time - here;
        blame_resource(row, record, here, reception);
    } else if (op.start.time > op.ready.time) {  // for the CPU, which posts the receive
        row.wait = op.start.time - op.ready.time;
        blame_resource(row, record, op.ready.time, op.start);
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

/// Adds the length of the detours in each activity to the op of that activity.
void add_noise(std::span<OpRow> rows, const std::vector<loggops::ActivityRecord>& activities,
               const machine::Machine& machine) {
    for (const loggops::ActivityRecord& done : activities) {
        const loggops::Activity& activity = done.activity;
        OpRow* row = activity.op_index == goal::unknown_op_index ? nullptr : row_of(rows, activity.op_index);
        if (row == nullptr) {
            continue;
        }
        const loggops::Point point = point_after(activity.kind);
        if (goal::is_one_sided(row->op.kind) && activity.kind == loggops::ActivityKind::transmission) {
            row->work = done.start.time;  // its end has a cause at the target
            row->free = done.free;
        }
        row->noise += spans_of(activity, point, done.free - done.start.time, machine).noise;
    }
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
        for (const loggops::OpRecord& op : own) {
            OpRow& row = rows.emplace_back();
            row.op = op;
            if (goal::is_receiving(op.kind)) {
                explain_receive(row, record);
            } else {
                explain_start(row, record);
            }
        }
        const std::size_t rank = first.size() - 1;
        add_noise(std::span(rows).subspan(first[rank]), record.activities[rank], machine);
    }
    first.push_back(rows.size());
    for (const OpRow& row : rows) {
        if (row.op.kind == goal::OpKind::recv && by_rendezvous(record, row)) {
            const auto sender = static_cast<std::size_t>(row.match_rank);
            const std::span own = std::span(rows).subspan(first[sender], first[sender + 1] - first[sender]);
            if (OpRow* send = row_of(own, row.match_op)) {
                explain_late_receiver(row, *send);
            }
        }
    }
    return rows;
}

}  // namespace idlewave::timeline
