#pragma once

#include "loggops/worker.hpp"

/// What a rank does with a message that has come: it is received at once, or asks for what that takes (docs/model.md:
/// "Receiving").
namespace idlewave {

/// An arrival while nothing else waits, most often for the only receive that is posted; and what it makes ready
/// follows.
template <Source S, class Observer>
template <class Context>
[[gnu::always_inline]] inline void RankWorker<S, Observer>::meet_alone(const Event& event, Time until,
                                                                       Context& context) {
    State& rank = *rank_;
    if (rank.posted.waits && rank.agrees(event.source, event.payload->tag)) [[likely]] {
        const Receive<Cookie> receive = rank.posted;
        rank.posted.waits = false;
        model_.observer.arrived(self_, 1, true);
        follow(receive_at_once(event, receive, until), until, context);
    } else {
        meet_among_others(event, until, context);
    }
}

/// An arrival while nothing else waits; there may be several receives, or none.
template <Source S, class Observer>
template <class Context>
[[gnu::noinline]] void RankWorker<S, Observer>::meet_among_others(const Event& event, Time until, Context& context) {
    Receive<Cookie> receive;
    if (take_posted(event.source, event.payload->tag, receive)) {
        follow(receive_at_once(event, receive, until), until, context);
    } else {
        await_receive_alone(event, until);
    }
}

/// When the reception of a message that has `arrived` begins, for which nothing else waits.
template <Source S, class Observer>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::reception_at(const Moment& arrived,
                                                                         const Receive<Cookie>& op) const -> Moment {
    return latest(arrived, free_times()[Layout::cpu(op.cpu)], free_times()[model_.layout.rx(op.nic)]);
}

/// A message whose receive was posted is received when it arrives, unless that could not begin before `until`. Returns
/// whether this made an op ready that is now in `next_[0]`.
template <Source S, class Observer>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::receive_at_once(const Event& event,
                                                                            const Receive<Cookie>& receive, Time until)
    -> bool {
    const Payload& message = *event.payload;
    const Moment arrived = model_.observer.arrival(message, event.time);
    const Moment now = reception_at(arrived, receive);
    if (time_of(now) >= until) {
        request_reception(event, receive, RequestKind::receive_expected, receive.op_index);
        return false;
    }
    const Moment processed = occupy_receiver(receive, {message.kind, event.source, message.size},
                                             costs_of(message.message_class, message.size, event.source), now);
    model_.observer.received(self_, receive.op_index, arrived, arrived, processed);
    if constexpr (S::single_cpu_and_nic) {
        if (time_of(processed) >= until && same(processed, free_times()[Layout::cpu(0)])) {
            State& rank = *rank_;
            rank.posted.op_index = receive.op_index;
            rank.posted.cookie = receive.cookie;
            rank.posted.end_pending = true;
            return false;
        }
    }
    return report_end(receive.op_index, receive.cookie, processed, next_[0]);
}

/// The first byte is here: match it, and ask for the CPU and the NIC's receive side of the receive, or the first ones.
template <Source S, class Observer>
void RankWorker<S, Observer>::arrive(const Event& event) {
    if (event.payload->kind != MessageKind::data) [[unlikely]] {
        arrive_control(event);
        return;
    }
    Receive<Cookie> receive;
    if (take_posted(event.source, event.payload->tag, receive)) {
        request_reception(event, receive, RequestKind::receive_expected, receive.op_index);
    } else {
        await_receive(event);
    }
}

/// A message whose receive is not posted: it is received all the same, since progress is asynchronous.
template <Source S, class Observer>
void RankWorker<S, Observer>::await_receive(const Event& event) {
    const std::uint32_t arrived = add_arrived_message(event);
    add_unexpected(arrived);
    request_reception(event, {}, RequestKind::receive_unexpected, arrived);
}

/// The same while nothing else waits: received at once, unless that could not begin before `until`.
template <Source S, class Observer>
void RankWorker<S, Observer>::await_receive_alone(const Event& event, Time until) {
    const Receive<Cookie> unknown{.op_index = unknown_op_index};
    const Moment arrived = model_.observer.arrival(*event.payload, event.time);
    const Moment now = reception_at(arrived, unknown);
    if (time_of(now) >= until) {
        await_receive(event);
        return;
    }
    const Payload& message = *event.payload;
    const std::uint32_t handle = add_arrived_message(event);
    add_unexpected(handle);
    message_processed(handle, occupy_receiver(unknown, {message.kind, event.source, message.size},
                                              costs_of(message.message_class, message.size, event.source), now));
}

/// Ask for what a reception needs: the CPU and NIC of `op`.
template <Source S, class Observer>
void RankWorker<S, Observer>::request_reception(const Event& event, const Receive<Cookie>& op, RequestKind kind,
                                                std::uint32_t handle) {
    Request<Cookie, Moment>& reception = new_request();
    reception.ready.at = model_.observer.arrival(*event.payload, event.time);
    reception.ready.op = {.size = event.payload->size, .peer = event.source, .cpu = op.cpu, .nic = op.nic};
    reception.ready.op_index = event.sequence;
    reception.ready.cookie = op.cookie;
    reception.handle = handle;
    reception.message_class = event.payload->message_class;
    reception.first_resource = Layout::cpu(op.cpu);
    reception.second_resource = model_.layout.rx(op.nic);
    reception.priority = Priority::arrival;
    reception.kind = kind;
    agenda_.added();
}

template <Source S, class Observer>
std::uint32_t RankWorker<S, Observer>::add_arrived_message(const Event& event) {
    const Payload& message = *event.payload;
    const std::uint32_t handle = arrived_messages_.add();
    arrived_messages_[handle] = {.size = message.size,
                                 .source = event.source,
                                 .tag = message.tag,
                                 .number = event.sequence,
                                 .sending = message.sending,
                                 .kind = message.kind,
                                 .arrived_at = model_.observer.arrival(message, event.time)};
    return handle;
}

/// The op that a reception is for, as far as it is known.
template <Source S, class Observer>
OpIndex RankWorker<S, Observer>::place_of(const Request<Cookie, Moment>& reception) const {
    if (reception.kind == RequestKind::receive_expected) {
        return reception.handle;
    }
    if (reception.kind == RequestKind::receive_clear_to_send) {
        return sends_[reception.handle].op.op_index;
    }
    const ArrivedMessage<Cookie, Moment>& arrived = arrived_messages_[reception.handle];
    return arrived.matched ? arrived.receive.op_index : unknown_op_index;
}

/// Process an arrival whose CPU and NIC are free at `now`. Returns when it is processed.
template <Source S, class Observer>
auto RankWorker<S, Observer>::receive(const Request<Cookie, Moment>& request, const Moment& now) -> Moment {
    const Op& op = request.ready.op;
    const Receive<Cookie> taken{.op_index = place_of(request), .cpu = op.cpu, .nic = op.nic};
    const Moment processed = occupy_receiver(taken, {kind_of(request.kind), op.peer, op.size},
                                             costs_of(request.message_class, op.size, op.peer), now);
    if (request.kind == RequestKind::receive_expected) {
        model_.observer.received(self_, request.handle, request.ready.at, request.ready.at, processed);
    }
    return processed;
}

/// A message that had no receive when it arrived, or one of a rendezvous, is processed.
template <Source S, class Observer>
void RankWorker<S, Observer>::message_processed(std::uint32_t handle, const Moment& time) {
    ArrivedMessage<Cookie, Moment>& arrived = arrived_messages_[handle];
    arrived.processed_at = time;
    arrived.processed = true;
    if (arrived.matched) {
        meet(handle);
    }
}

}  // namespace idlewave
