#include "loggopsim/simulator.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "base/error.hpp"

namespace idlewave::loggopsim {
namespace {

bool has_message_of_zero_bytes(const goal::Graph& schedule) {
    for (std::uint32_t rank = 0; rank < schedule.ranks(); ++rank) {
        for (goal::OpIndex op_index = 0; op_index < schedule.size(rank); ++op_index) {
            const goal::Op op = schedule.op(rank, op_index);
            if (op.kind == goal::OpKind::send && op.size == 0) {
                return true;
            }
        }
    }
    return false;
}

/// `t` plus the cost of a transmission. LogGOPSim's times have no sign: a negative one wraps to a time that never
/// comes.
Time free_time_after(Time t, Time cost) {
    const Time sum = later(t, cost);
    return sum < 0 ? never : sum;
}

[[noreturn]] void refuse_negative_free_time(std::uint32_t rank) {
    throw InputError("rank " + std::to_string(rank) +
                     ": a message of 0 bytes turns a clock back below 0, as it costs less than nothing by LogGOPSim's "
                     "rules, which give no sensible time then: use 1 byte");
}

}  // namespace

Simulator::Simulator(const goal::Graph& schedule, const Costs& costs)
    : schedule_(schedule),
      costs_(costs),
      cpu_(schedule.ranks(), schedule.cpus()),
      tx_(schedule.ranks(), schedule.nics()),
      rx_(schedule.ranks(), schedule.nics()),
      posted_(schedule.ranks()),
      unexpected_(schedule.ranks()),
      requirements_(schedule),
      agenda_(zero_bytes_reduce_free_times(costs) && has_message_of_zero_bytes(schedule)) {
    for (std::uint32_t rank = 0; rank < schedule.ranks(); ++rank) {
        for (goal::OpIndex op_index = 0; op_index < schedule.size(rank); ++op_index) {
            if (requirements_.unmet(rank, op_index) == 0) {
                released_.emplace_back(rank, op_index);
            }
        }
    }
    add_released();
}

bool Simulator::step() {
    Event event;
    if (!agenda_.next(
            event, [this](const Event& e) { return free_from(e); },
            [this](const Event& e) { return resources_of(e); })) {
        return false;
    }
    now_ = event.time;
    switch (event.kind) {
        case Event::Kind::calc:
            calc(event);
            break;
        case Event::Kind::send:
            send(event);
            break;
        case Event::Kind::recv:
            post(event);
            break;
        case Event::Kind::message:
            receive(event);
            break;
        case Event::Kind::check:
            throw LogicError("the agenda handed out a check of a wait queue");
    }
    add_released();
    return true;
}

std::vector<Time> Simulator::finish() const {
    std::vector<Time> times;
    times.reserve(schedule_.ranks());
    for (std::uint32_t rank = 0; rank < schedule_.ranks(); ++rank) {
        times.push_back(std::ranges::max(cpu_.all(rank)));
        if (times.back() == never) {
            refuse_negative_free_time(rank);
        }
    }
    return times;
}

/// The op of an event; of a message the op that sent it.
goal::Op Simulator::op_of(const Event& event) const {
    return schedule_.op(event.kind == Event::Kind::message ? event.source : event.rank, event.op_index);
}

/// The time from which the resources of an event are free. A receive needs none.
Time Simulator::free_from(const Event& event) const {
    if (event.kind == Event::Kind::recv) {
        return 0;
    }
    Time free = cpu_.of(event.rank, event.cpu);
    if (event.kind != Event::Kind::calc) {
        const FreeTimes& nic = event.kind == Event::Kind::send ? tx_ : rx_;
        free = std::max(free, nic.of(event.rank, event.nic));
    }
    if (free == never) {
        refuse_negative_free_time(event.rank);
    }
    return free;
}

std::uint64_t Simulator::resources_of(const Event& event) const {
    const std::uint64_t nic = event.kind == Event::Kind::calc ? 0 : event.nic;
    return (std::uint64_t{event.rank} << 24U) | (static_cast<std::uint64_t>(event.kind) << 16U) |
           (std::uint64_t{event.cpu} << 8U) | nic;
}

void Simulator::calc(const Event& event) {
    const goal::Op op = op_of(event);
    Time work = 0;
    if (!from_nanoseconds(op.size, work)) {
        throw TimeOverflow();
    }
    cpu_.of(event.rank, op.cpu) = later(event.time, work);
    started(event.rank, event.op_index);
    ended(event.rank, event.op_index);
}

/// The message leaves at once, also in a rendezvous, where only the end of the send waits. O does not delay it.
void Simulator::send(const Event& event) {
    const goal::Op op = op_of(event);
    const Time busy = later(costs_.o, further_bytes(costs_.O, op.size));
    cpu_.of(event.rank, op.cpu) = free_time_after(event.time, busy);
    const Time gap = later(costs_.g, further_bytes(costs_.G, op.size));
    tx_.of(event.rank, op.nic) = free_time_after(event.time, gap);
    started(event.rank, event.op_index);
    agenda_.add({.time = later(later(event.time, costs_.o), costs_.L),
                 .rank = op.peer,
                 .source = event.rank,
                 .op_index = event.op_index,
                 .kind = Event::Kind::message,
                 .cpu = op.cpu,
                 .nic = op.nic});
    ++messages_;
    if (op.size <= costs_.S) {
        ended(event.rank, event.op_index);
    }
}

/// A receive needs no resource and is posted at once. If its message has arrived already, the *receive's* size decides
/// whether it was a rendezvous.
void Simulator::post(const Event& event) {
    const goal::Op op = op_of(event);
    started(event.rank, event.op_index);
    MatchEntry message;
    if (!unexpected_[event.rank].take({op.peer, op.tag, event.op_index}, message)) {
        posted_[event.rank].add({op.peer, op.tag, event.op_index});
        return;
    }
    if (op.size > costs_.S) {
        release_send(message.source, message.op_index, op.cpu, op.nic, event.time);
    }
    ended(event.rank, event.op_index);
}

/// A message takes, at its arrival, the CPU and NIC whose numbers are those of its *send*, for o and G in sequence. If
/// its receive is posted, the message's size decides whether it was a rendezvous.
void Simulator::receive(const Event& event) {
    const goal::Op op = op_of(event);
    const Time busy = later(costs_.o, reception(costs_, op.size));
    cpu_.of(event.rank, op.cpu) = free_time_after(event.time, busy);
    const Time gap = later(costs_.g, further_bytes(costs_.G, op.size));
    rx_.of(event.rank, op.nic) = free_time_after(event.time, gap);
    MatchEntry posted;
    if (!posted_[event.rank].take({event.source, op.tag, event.op_index}, posted)) {
        unexpected_[event.rank].add({event.source, op.tag, event.op_index});
        return;
    }
    if (op.size > costs_.S) {
        release_send(event.source, event.op_index, op.cpu, op.nic, event.time);
    }
    ended(event.rank, posted.op_index);
}

/// A rendezvous ends its send when message and receive match: at no cost, and the receiver sets the sender's free
/// times, with the CPU and NIC numbers of the op that matched.
void Simulator::release_send(std::uint32_t rank, goal::OpIndex op_index, std::uint8_t cpu, std::uint8_t nic, Time now) {
    ended(rank, op_index);
    cpu_.of(rank, cpu) = std::max(cpu_.of(rank, cpu), now);
    tx_.of(rank, nic) = std::max(tx_.of(rank, nic), now);
}

void Simulator::release(std::uint32_t rank, goal::OpIndex op_index, goal::Edge edge) {
    goal::Successors successors = schedule_.block(rank).successors(op_index, edge);
    for (goal::OpIndex successor = 0; successors.next(successor);) {
        if (requirements_.meet(rank, successor)) {
            released_.emplace_back(rank, successor);
        }
    }
}

/// Released ops are added by rank, then kind (send, recv, calc), then in the order of their release. The time of an op
/// is the free time of its *own* CPU and NIC: the ends of the ops that it requires do not count. (LogGOPSim's sort is
/// stable only for up to 16 ops.)
void Simulator::add_released() {
    const auto kind_of = [this](const auto& op) { return schedule_.op(op.first, op.second).kind; };
    if (released_.size() > 1) {  // a sort of one would still allocate
        std::ranges::stable_sort(released_, [&](const auto& a, const auto& b) {
            return std::pair(a.first, kind_of(a)) < std::pair(b.first, kind_of(b));
        });
    }
    for (const auto& [rank, op_index] : released_) {
        const goal::Op op = schedule_.op(rank, op_index);
        Event event{.rank = rank, .op_index = op_index, .cpu = op.cpu, .nic = op.nic};
        event.time = cpu_.of(rank, op.cpu);
        switch (op.kind) {
            case goal::OpKind::send:
                event.kind = Event::Kind::send;
                event.time = std::max(event.time, tx_.of(rank, op.nic));
                break;
            case goal::OpKind::recv:
                event.kind = Event::Kind::recv;
                break;
            default:  // a calc; `simulate` has refused one-sided ops
                event.kind = Event::Kind::calc;
                break;
        }
        agenda_.add(event);
    }
    released_.clear();
}

/// A message above S that has arrived is a rendezvous: its send waits for the receive.
standstill::Unfinished Simulator::unfinished() const {
    standstill::Unfinished unfinished;
    for (std::uint32_t rank = 0; rank < schedule_.ranks(); ++rank) {
        for (const MatchEntry& receive : posted_[rank].all()) {
            unfinished.add(standstill::PendingOp{.rank = rank,
                                                 .op_index = receive.op_index,
                                                 .peer = receive.source,
                                                 .tag = receive.tag,
                                                 .kind = goal::OpKind::recv});
        }
        std::uint32_t number = 0;
        for (const MatchEntry& message : unexpected_[rank].all()) {
            const std::uint64_t size = schedule_.op(message.source, message.op_index).size;
            if (size > costs_.S) {
                unfinished.add(standstill::PendingOp{.size = size,
                                                     .rank = message.source,
                                                     .op_index = message.op_index,
                                                     .peer = rank,
                                                     .tag = message.tag,
                                                     .kind = goal::OpKind::send});
            } else {
                unfinished.add(standstill::UnexpectedMessage{.size = size,
                                                             .receiver = rank,
                                                             .number = number++,
                                                             .sender = message.source,
                                                             .tag = message.tag,
                                                             .send = message.op_index});
            }
        }
        const std::vector<std::uint32_t> requirements = requirements_.unmet(rank);
        if (std::ranges::any_of(requirements, [](std::uint32_t n) { return n > 0; })) {
            unfinished.add(standstill::UnfinishedRank{rank, {}});
        }
    }
    return unfinished;
}

}  // namespace idlewave::loggopsim
