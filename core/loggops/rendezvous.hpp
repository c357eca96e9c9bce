#pragma once

#include "loggops/model.hpp"

/// The rendezvous of a message larger than S (SEMANTICS.md: "send, rendezvous"): request to send, clear to send, data;
/// each is a transmission with all its costs, so that the handshake has a lookahead like any message.
namespace idlewave {

/// The send's start transmits a request; the send stays open.
template <Source S, class Log>
template <class Context>
void LogGops<S, Log>::request_to_send(State& rank, const Request& request, Time now, Context& context) {
    const std::uint32_t handle = rank.sends.add({.op = op_of(request, OpKind::send),
                                                 .place = request.place(),
                                                 .cookie = request.handle,
                                                 .ready = request.ready,
                                                 .start = now,
                                                 .number = rank.transmissions});
    const Message message{.tag = request.tag, .sending = handle, .kind = MessageKind::request_to_send};
    transmit(rank, request.peer, 1, message, request, now, context);
}

/// The receiver's side: the request is processed and the receive posted at `time`, so it may clear the sender.
template <Source S, class Log>
void LogGops<S, Log>::plan_clear_to_send(State& rank, std::uint32_t handle, Time time) {
    const Arrived& message = rank.arrived[handle];
    const Op& op = message.receive.op;
    rank.agenda.add({.ready = time,
                     .count = message.number,
                     .peer = message.source,
                     .handle = handle,
                     .turn = Turn::protocol,
                     .work = Work::clear_to_send,
                     .first_need = ClockLayout::cpu(op.cpu),
                     .second_need = layout_.tx(op.nic)});
}

template <Source S, class Log>
template <class Context>
void LogGops<S, Log>::send_clear_to_send(State& rank, const Request& request, Time now, Context& context) {
    const Arrived& message = rank.arrived[request.handle];
    const Message clearance{
        .sending = message.sending, .receiving = request.handle, .kind = MessageKind::clear_to_send};
    transmit(rank, message.source, 1, clearance, request, now, context);
}

/// The sender's side: the clear to send in `handle` is processed, so its data may go.
template <Source S, class Log>
void LogGops<S, Log>::cleared_to_send(State& rank, std::uint32_t handle) {
    const Arrived& clearance = rank.arrived[handle];
    RendezvousSend& send = rank.sends[clearance.sending];
    send.receiving = clearance.receiving;
    send.cleared = true;
    const Request request{.ready = clearance.processed_at,
                          .count = send.number,
                          .peer = clearance.source,
                          .handle = clearance.sending,
                          .turn = Turn::protocol,
                          .work = Work::rendezvous_data,
                          .first_need = ClockLayout::cpu(send.op.cpu),
                          .second_need = layout_.tx(send.op.nic)};
    rank.arrived.remove(handle);
    rank.agenda.add(request);
}

/// The send ends when its CPU is free of the data.
template <Source S, class Log>
template <class Context>
void LogGops<S, Log>::send_rendezvous_data(State& rank, const Request& request, Time now, Context& context) {
    const RendezvousSend send = rank.sends[request.handle];
    const Op& op = send.op;
    const Message message{.receiving = send.receiving, .kind = MessageKind::rendezvous_data};
    const Time end = transmit(rank, op.peer, op.size, message, request, now, context);
    rank.sends.remove(request.handle);
    const std::uint32_t self = context.self();
    op_ended(rank, self, {self, send.place, op.kind, op.peer, op.tag, op.size, send.ready, send.start, end},
             send.cookie);
}

}  // namespace idlewave
