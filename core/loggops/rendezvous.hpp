#pragma once

#include <utility>

#include "loggops/worker.hpp"

/// The rendezvous of a message larger than S (docs/model.md: "Rendezvous"): request to send, clear to send, data;
/// each is a transmission with all its costs, so that the handshake has a lookahead like any message.
namespace idlewave {

/// The rank's first of several is `first`.
template <Source S, class Observer>
template <class T>
void RankWorker<S, Observer>::link(Slab<T>& slab, std::uint32_t& first, std::uint32_t handle) {
    slab[handle].next = first;
    slab[handle].before() = 0;
    if (first != 0) {
        slab[first].before() = handle;
    }
    first = handle;
}

template <Source S, class Observer>
template <class T>
void RankWorker<S, Observer>::unlink(Slab<T>& slab, std::uint32_t& first, std::uint32_t handle) {
    const std::uint32_t next = std::exchange(slab[handle].next, 0);
    const std::uint32_t before = slab[handle].before();
    (before != 0 ? slab[before].next : first) = next;
    if (next != 0) {
        slab[next].before() = before;
    }
}

template <Source S, class Observer>
void RankWorker<S, Observer>::remove_send(std::uint32_t handle) {
    unlink(sends_, model_.open[self_].send, handle);
    sends_[handle].open = false;
    sends_.remove(handle);
}

/// The open send that a clearance is for: where it was when its request left, or among those that have moved since.
template <Source S, class Observer>
std::uint32_t RankWorker<S, Observer>::send_of(const Message& clearance) {
    const std::uint32_t handle = clearance.sending;
    if (sends_.has(handle) && sends_[handle].open && sends_[handle].rank == self_ &&
        sends_[handle].number == clearance.tag) [[likely]] {
        return handle;
    }
    return moved_sends_.take(self_, clearance.tag);
}

/// The message that data are for, in the same way.
template <Source S, class Observer>
std::uint32_t RankWorker<S, Observer>::message_of(const Event& data) {
    const std::uint32_t handle = data.payload->receiving;
    if (arrived_messages_.has(handle) && arrived_messages_[handle].awaits_data &&
        arrived_messages_[handle].source == data.source && arrived_messages_[handle].number == data.payload->tag)
        [[likely]] {
        return handle;
    }
    return moved_messages_.take(data.source, data.payload->tag);
}

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
            .op = started_op(ready)};
    link(sends_, model_.open[self_].send, handle);
    send_control(send.op, op.peer, {.size = 1, .tag = op.tag, .sending = handle, .kind = MessageKind::request_to_send},
                 now, context);
}

template <Source S, class Observer>
void RankWorker<S, Observer>::arrive_control(const Event& event) {
    const Payload& message = *event.payload;
    if (message.kind == MessageKind::clear_to_send) {
        const std::uint32_t handle = send_of(message);
        OpenSend<Cookie>& send = sends_[handle];
        send.receiving = message.receiving;
        request_reception(event, send.op, RequestKind::receive_clear_to_send, handle);
    } else if (message.kind == MessageKind::rendezvous_data) {
        const std::uint32_t handle = message_of(event);
        ArrivedMessage<Cookie, Moment>& arrived = arrived_messages_[handle];
        unlink(arrived_messages_, model_.open[self_].arrived, handle);
        arrived.awaits_data = false;
        arrived.kind = message.kind;
        arrived.processed = false;
        arrived.matched_at = model_.observer.arrival(message, event.time);
        request_reception(event, arrived.receive, RequestKind::receive_data, handle);
    } else {
        const std::uint32_t handle = add_arrived_message(event);
        ArrivedMessage<Cookie, Moment>& arrived = arrived_messages_[handle];
        if (take_posted(event.source, message.tag, arrived.receive)) {
            arrived.matched = true;
            arrived.matched_at = arrived.arrived_at;
        } else {
            add_unexpected(handle);
        }
        request_reception(event, arrived.receive, RequestKind::receive_request_to_send, handle);
    }
}

/// A message of the protocol that may go at `time`, in the order of the transmissions that it answers.
template <Source S, class Observer>
void RankWorker<S, Observer>::request_protocol_send(RequestKind kind, std::uint32_t handle, std::uint32_t peer,
                                                    std::uint32_t number, const Receive<Cookie>& op,
                                                    const Moment& time) {
    Request<Cookie, Moment>& request = new_request();
    request.ready.at = time;
    request.ready.op.peer = peer;
    request.ready.op.size = next_request_id_++;
    request.ready.op_index = number;
    request.handle = handle;
    request.first_resource = Layout::cpu(op.cpu);
    request.second_resource = model_.layout.tx(op.nic);
    request.priority = Priority::protocol;
    request.kind = kind;
    agenda_.added();
}

/// The receiver's side: the request is processed and the receive posted at `time`, so it may clear the sender.
template <Source S, class Observer>
void RankWorker<S, Observer>::request_clear_to_send(std::uint32_t handle, const Moment& time) {
    const ArrivedMessage<Cookie, Moment>& arrived = arrived_messages_[handle];
    request_protocol_send(RequestKind::send_clear_to_send, handle, arrived.source, arrived.number, arrived.receive,
                          time);
}

template <Source S, class Observer>
template <class Context>
void RankWorker<S, Observer>::send_clear_to_send(const Request<Cookie, Moment>& request, const Moment& now,
                                                 Context& context) {
    ArrivedMessage<Cookie, Moment>& arrived = arrived_messages_[request.handle];
    send_control(arrived.receive, arrived.source,
                 {.size = 1,
                  .tag = arrived.number,
                  .sending = arrived.sending,
                  .receiving = request.handle,
                  .kind = MessageKind::clear_to_send},
                 now, context);
    arrived.awaits_data = true;
    link(arrived_messages_, model_.open[self_].arrived, request.handle);
}

/// The sender's side: the clear to send for the open send `handle` is processed, so its data may go.
template <Source S, class Observer>
void RankWorker<S, Observer>::cleared_to_send(std::uint32_t handle, const Moment& time) {
    const OpenSend<Cookie>& send = sends_[handle];
    request_protocol_send(RequestKind::send_data, handle, send.peer, send.number, send.op, time);
}

/// The send ends when its CPU is free of the data.
template <Source S, class Observer>
template <class Context>
void RankWorker<S, Observer>::send_data(const Request<Cookie, Moment>& request, const Moment& now, Context& context) {
    const OpenSend<Cookie> send = sends_[request.handle];
    remove_send(request.handle);
    const Message data{
        .size = send.size, .tag = send.number, .receiving = send.receiving, .kind = MessageKind::rendezvous_data};
    const Moment end =
        transmit(send.op, send.peer, data, costs_of(Message::no_class, send.size, send.peer), now, context);
    op_ended(send.op.op_index, send.op.cookie, end);
}

}  // namespace idlewave
