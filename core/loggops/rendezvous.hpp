#pragma once

#include "loggops/worker.hpp"

/// The rendezvous of a message larger than S (SEMANTICS.md: "send, rendezvous"): request to send, clear to send, data;
/// each is a transmission with all its costs, so that the handshake has a lookahead like any message.
namespace idlewave {

/// A message of the protocol itself, which counts as one byte.
template <Source S, class Observer>
template <class Context>
auto RankWorker<S, Observer>::send_control(const Receive<Cookie>& op, std::uint32_t peer, const Message& message,
                                           const Moment& now, Context& context) -> Moment {
    return transmit(op, peer, message, within_node(peer) ? model_.node_control : model_.network_control, now, context);
}

/// The send's start transmits a request; the send stays open.
template <Source S, class Observer>
template <class Context>
void RankWorker<S, Observer>::request_to_send(const Ready& ready, const Moment& now, Context& context) {
    const Op& op = ready.op;
    const std::uint32_t handle = sends_.add();
    OpenSend<Cookie>& send = sends_[handle];
    send = {.size = op.size,
            .rank = self_,
            .peer = op.peer,
            .tag = op.tag,
            .number = context.sent(),
            .open = true,
            .op = handed_over(ready)};
    send_control(send.op, op.peer, {.size = 1, .tag = op.tag, .sending = handle, .kind = MessageKind::request_to_send},
                 now, context);
}

template <Source S, class Observer>
void RankWorker<S, Observer>::arrive_control(const Event& event) {
    const Payload& message = *event.payload;
    if (message.kind == MessageKind::clear_to_send) {
        OpenSend<Cookie>& send = sends_[message.sending];
        send.receiving = message.receiving;
        ask_to_receive(event, send.op, Work::receive_clear_to_send, message.sending);
    } else if (message.kind == MessageKind::rendezvous_data) {
        Stray<Cookie, Moment>& stray = strays_[message.receiving];
        stray.kind = message.kind;
        stray.processed = false;
        stray.matched_at = model_.observer.arrival(message, event.time);
        ask_to_receive(event, stray.receive, Work::receive_data, message.receiving);
    } else {
        const std::uint32_t handle = add_stray(event);
        Stray<Cookie, Moment>& stray = strays_[handle];
        if (take_posted(event.source, message.tag, stray.receive)) {
            stray.matched = true;
            stray.matched_at = stray.arrived_at;
        } else {
            add_unexpected(handle);
        }
        ask_to_receive(event, stray.receive, Work::receive_request_to_send, handle);
    }
}

/// A message of the protocol that may go at `time`, in the order of the transmissions that it answers.
template <Source S, class Observer>
void RankWorker<S, Observer>::ask_to_send(Work work, std::uint32_t handle, std::uint32_t peer, std::uint32_t number,
                                          const Receive<Cookie>& op, const Moment& time) {
    Request<Cookie, Moment>& request = new_request();
    request.ready.at = time;
    request.ready.op.peer = peer;
    request.ready.op.size = asked_++;
    request.ready.place = number;
    request.handle = handle;
    request.first_need = Layout::cpu(op.cpu);
    request.second_need = model_.layout.tx(op.nic);
    request.turn = Turn::protocol;
    request.work = work;
    agenda_.added();
}

/// The receiver's side: the request is processed and the receive posted at `time`, so it may clear the sender.
template <Source S, class Observer>
void RankWorker<S, Observer>::plan_clear_to_send(std::uint32_t handle, const Moment& time) {
    const Stray<Cookie, Moment>& stray = strays_[handle];
    ask_to_send(Work::send_clear_to_send, handle, stray.source, stray.number, stray.receive, time);
}

template <Source S, class Observer>
template <class Context>
void RankWorker<S, Observer>::send_clear_to_send(const Request<Cookie, Moment>& request, const Moment& now,
                                                 Context& context) {
    const Stray<Cookie, Moment>& stray = strays_[request.handle];
    send_control(stray.receive, stray.source,
                 {.size = 1, .sending = stray.sending, .receiving = request.handle, .kind = MessageKind::clear_to_send},
                 now, context);
}

/// The sender's side: the clear to send for the open send `handle` is processed, so its data may go.
template <Source S, class Observer>
void RankWorker<S, Observer>::cleared_to_send(std::uint32_t handle, const Moment& time) {
    const OpenSend<Cookie>& send = sends_[handle];
    ask_to_send(Work::send_data, handle, send.peer, send.number, send.op, time);
}

/// The send ends when its CPU is free of the data.
template <Source S, class Observer>
template <class Context>
void RankWorker<S, Observer>::send_data(const Request<Cookie, Moment>& request, const Moment& now, Context& context) {
    const OpenSend<Cookie> send = sends_[request.handle];
    sends_[request.handle].open = false;
    sends_.remove(request.handle);
    const Message data{.size = send.size, .receiving = send.receiving, .kind = MessageKind::rendezvous_data};
    const Moment end =
        transmit(send.op, send.peer, data, costs_of(Message::no_class, send.size, send.peer), now, context);
    op_ended(send.op.place, send.op.cookie, end);
}

}  // namespace idlewave
