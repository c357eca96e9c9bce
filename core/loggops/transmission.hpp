#pragma once

#include "loggops/model.hpp"

/// What a message costs its sender and its receiver (SEMANTICS.md: "send, eager", "arrival", "a receive ends").
namespace idlewave {

/// Start a transmission at `now`, when CPU and NIC are free. Returns when the CPU is free of it.
template <Source S, class Log>
template <class Context>
Time LogGops<S, Log>::transmit(State& rank, std::uint32_t peer, std::uint64_t size, const Message& message,
                               const Request& request, Time now, Context& context) {
    const std::uint32_t self = context.self();
    const Parameters& p = machine_.level(self, peer).of(size);
    const auto [injected, end] =
        occupy(machine_, rank.noise, now, {p.o_s, machine_.noise_reach.o_s}, per_byte(p.O, size));
    rank.clocks[request.first_need] = end;
    rank.clocks[request.second_need] = later(now, later(p.g, per_byte(p.G, size)));
    rank.reach(end);
    Message travelling = message;
    travelling.size = size;
    travelling.number = rank.transmissions++;
    ++messages_;
    context.send(peer, later(injected, p.L), travelling);
    return end;
}

/// The first byte is here: match it, and ask for the CPU and the NIC's receive side of the receive, or the first ones.
template <Source S, class Log>
void LogGops<S, Log>::arrive(State& rank, const pdes::Event<Message>& event) {
    const Message& message = event.payload;
    Request request{.ready = event.time,
                    .count = message.number,
                    .peer = event.source,
                    .turn = Turn::arrival,
                    .work = Work::receive};
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    if (message.kind == MessageKind::rendezvous_data) {
        request.handle = message.receiving;
        Arrived& arrived = rank.arrived[request.handle];
        arrived.kind = message.kind;
        arrived.size = message.size;
        arrived.matched_at = event.time;
        cpu = arrived.receive.op.cpu;
        nic = arrived.receive.op.nic;
    } else {
        Arrived arrived{.size = message.size,
                        .number = message.number,
                        .source = event.source,
                        .tag = message.tag,
                        .sending = message.sending,
                        .receiving = message.receiving,
                        .kind = message.kind};
        if (message.kind == MessageKind::clear_to_send) {
            cpu = rank.sends[message.sending].op.cpu;
            nic = rank.sends[message.sending].op.nic;
        } else if (const auto receive = rank.matching.take_posted(event.source, message.tag)) {
            arrived.receive = *receive;
            arrived.matched = true;
            arrived.matched_at = event.time;
            cpu = receive->op.cpu;
            nic = receive->op.nic;
        }
        request.handle = rank.arrived.add(arrived);
        if (!arrived.matched && message.kind != MessageKind::clear_to_send) {
            rank.matching.add_unexpected(request.handle);
        }
    }
    request.first_need = ClockLayout::cpu(cpu);
    request.second_need = layout_.rx(nic);
    rank.agenda.add(request);
}

/// Process an arrival whose CPU and NIC are free at `now`.
template <Source S, class Log>
void LogGops<S, Log>::receive(State& rank, const Request& request, Time now, std::uint32_t self) {
    Arrived& message = rank.arrived[request.handle];
    const Parameters& p = machine_.level(message.source, self).of(message.size);
    const Time gap = per_byte(p.G, message.size);
    const auto [received, end] =
        occupy(machine_, rank.noise, now, {p.o_r, machine_.noise_reach.o_r}, per_byte(p.O, message.size));
    rank.clocks[request.first_need] = end;
    rank.clocks[request.second_need] = later(now, later(p.g, gap));
    message.processed_at = std::max(end, later(received, gap));
    rank.reach(message.processed_at);
    if (message.kind == MessageKind::clear_to_send) {
        cleared_to_send(rank, request.handle);
    } else if (message.matched) {
        meet(rank, request.handle, self);
    }
}

/// The receive is posted and the message processed: both sides go on at the later of the two times.
template <Source S, class Log>
void LogGops<S, Log>::meet(State& rank, std::uint32_t handle, std::uint32_t self) {
    const Arrived& message = rank.arrived[handle];
    const Time time = std::max(message.matched_at, message.processed_at);
    if (message.kind == MessageKind::request_to_send) {
        plan_clear_to_send(rank, handle, time);
        return;
    }
    const Receive receive = message.receive;
    rank.arrived.remove(handle);
    const Op& op = receive.op;
    op_ended(rank, self, {self, receive.place, op.kind, op.peer, op.tag, op.size, receive.ready, receive.posted, time},
             receive.cookie);
}

}  // namespace idlewave
