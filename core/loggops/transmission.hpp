#pragma once

#include "loggops/worker.hpp"

/// What a message costs its sender and its receiver (SEMANTICS.md: "send, eager", "arrival", "a receive ends").
namespace idlewave {

template <Source S, class Log>
[[gnu::always_inline]] inline const Costs& RankWorker<S, Log>::costs_of(std::uint16_t message_class, std::uint64_t size,
                                                                        std::uint32_t peer) {
    const bool node = within_node(peer);
    if (message_class != Message::no_class) {
        return node ? model_.classes[message_class].node : model_.classes[message_class].network;
    }
    odd_costs_ = costs(node ? *model_.machine.node : model_.machine.network, size);
    return odd_costs_;
}

/// A transmission takes the CPU and the NIC's send side from `now` on.
template <Source S, class Log>
[[gnu::always_inline]] inline auto RankWorker<S, Log>::occupy_sender(std::uint8_t cpu, std::uint8_t nic,
                                                                     const Costs& costs, Time now) -> Sent {
    const auto [injected, end] = occupy(now, {costs.o_s, model_.machine.noise_reach.o_s}, costs.over);
    clocks_[ClockLayout::cpu(cpu)] = end;
    clocks_[model_.layout.tx(nic)] = later(now, costs.gap);
    ++messages_;
    return {end, later(injected, costs.L)};
}

/// Returns when the CPU is free of it.
template <Source S, class Log>
template <class Context>
[[gnu::always_inline]] inline Time RankWorker<S, Log>::send_eagerly(const Op& op, Time now, Context& context) {
    const std::uint16_t message_class = recent_.number(op.size, op.tag);
    const Sent sent = occupy_sender(op.cpu, op.nic, costs_of(message_class, op.size, op.peer), now);
    if (message_class != Message::no_class) [[likely]] {
        context.send(op.peer, sent.arrival, message_class);
    } else {
        context.send(op.peer, sent.arrival, Message{.size = op.size, .tag = op.tag});
    }
    return sent.end;
}

/// A reception takes the CPU and the NIC's receive side from `now` on. Returns when the message is processed.
template <Source S, class Log>
[[gnu::always_inline]] inline Time RankWorker<S, Log>::occupy_receiver(const Receive<Cookie>& op, const Costs& costs,
                                                                       Time now) {
    const auto [received, end] = occupy(now, {costs.o_r, model_.machine.noise_reach.o_r}, costs.over);
    clocks_[ClockLayout::cpu(op.cpu)] = end;
    clocks_[model_.layout.rx(op.nic)] = later(now, costs.gap);
    if (costs.bytes <= end - received) {
        return end;
    }
    const Time processed = later(received, costs.bytes);
    model_.processed[self_] = std::max(model_.processed[self_], processed);
    return processed;
}

/// An arrival while nothing else waits: if its receive is posted it is received at once, unless that could not begin
/// before `until`; and what this makes ready follows.
template <Source S, class Log>
template <class Context>
[[gnu::always_inline]] inline void RankWorker<S, Log>::meet_alone(const Event& event, Time until, Context& context) {
    const Message& message = *event.payload;
    Receive<Cookie> receive;
    if (!take_posted(event.source, message.tag, receive)) {
        await_receive(event);
        return;
    }
    const Time now =
        std::max(event.time, std::max(clocks_[ClockLayout::cpu(receive.cpu)], clocks_[model_.layout.rx(receive.nic)]));
    if (now >= until) {
        ask_to_receive(event, receive, Work::receive_expected, receive.place);
        return;
    }
    const Time processed = occupy_receiver(receive, costs_of(message.message_class, message.size, event.source), now);
    op_ended(receive.place, receive.cookie, processed);
    follow(until, context);
}

/// The first byte is here: match it, and ask for the CPU and the NIC's receive side of the receive, or the first ones.
template <Source S, class Log>
void RankWorker<S, Log>::arrive(const Event& event) {
    if (event.payload->kind != MessageKind::data) [[unlikely]] {
        arrive_control(event);
        return;
    }
    Receive<Cookie> receive;
    if (take_posted(event.source, event.payload->tag, receive)) {
        ask_to_receive(event, receive, Work::receive_expected, receive.place);
    } else {
        await_receive(event);
    }
}

/// A message whose receive is not posted: it is received all the same, since progress is asynchronous.
template <Source S, class Log>
void RankWorker<S, Log>::await_receive(const Event& event) {
    const std::uint32_t stray = add_stray(event);
    crowd().unexpected.add(event.source, event.payload->tag, stray);
    ask_to_receive(event, {}, Work::receive_unexpected, stray);
}

/// Ask for what a reception needs: the CPU and NIC of `op`.
template <Source S, class Log>
void RankWorker<S, Log>::ask_to_receive(const Event& event, const Receive<Cookie>& op, Work work,
                                        std::uint32_t handle) {
    Request<Cookie>& reception = new_request();
    reception.ready.at = event.time;
    reception.ready.op = {.size = event.payload->size, .peer = event.source, .cpu = op.cpu, .nic = op.nic};
    reception.ready.place = event.sequence;
    reception.ready.cookie = op.cookie;
    reception.handle = handle;
    reception.message_class = event.payload->message_class;
    reception.first_need = ClockLayout::cpu(op.cpu);
    reception.second_need = model_.layout.rx(op.nic);
    reception.turn = Turn::arrival;
    reception.work = work;
    agenda_.added();
}

/// The oldest posted receive that a message from `source` with `tag` matches, which is then no longer posted.
template <Source S, class Log>
[[gnu::always_inline]] inline bool RankWorker<S, Log>::take_posted(std::uint32_t source, std::uint32_t tag,
                                                                   Receive<Cookie>& receive) {
    State& rank = *rank_;
    if (rank.posted.waits) {  // then no other does
        const bool agrees = (rank.posted_source == source || rank.posted_source == any) &&
                            (rank.posted_tag == tag || rank.posted_tag == any || tag == any);
        if (agrees) {
            receive = rank.posted;
            rank.posted.waits = false;
        }
        return agrees;
    }
    return rank.crowd != 0 && crowds_[rank.crowd].posted.take(source, tag, receive);
}

/// A receive is posted: it takes the oldest unexpected message that it matches, or waits.
template <Source S, class Log>
void RankWorker<S, Log>::post(const ReadyOp<Cookie>& ready, Time now) {
    op_started(ready, now);
    const Op& op = ready.op;
    State& rank = *rank_;
    const Receive<Cookie> receive{
        .place = ready.place, .cookie = ready.cookie, .cpu = op.cpu, .nic = op.nic, .waits = true};
    std::uint32_t handle = 0;
    if (rank.crowd != 0 && crowds_[rank.crowd].unexpected.take(op.peer, op.tag, handle)) {
        Stray<Cookie>& stray = strays_[handle];
        stray.receive = receive;
        stray.matched = true;
        stray.matched_at = now;
        if (stray.processed_at != Stray<Cookie>::not_yet) {
            meet(handle);
        }
        return;
    }
    if (!rank.posted.waits && (rank.crowd == 0 || crowds_[rank.crowd].posted.empty())) {
        rank.posted = receive;
        rank.posted_source = op.peer;
        rank.posted_tag = op.tag;
        return;
    }
    auto& posted = crowd().posted;
    if (rank.posted.waits) {
        posted.add(rank.posted_source, rank.posted_tag, rank.posted);
        rank.posted.waits = false;
    }
    posted.add(op.peer, op.tag, receive);
}

template <Source S, class Log>
std::uint32_t RankWorker<S, Log>::add_stray(const Event& event) {
    const Message& message = *event.payload;
    const std::uint32_t handle = strays_.add();
    strays_[handle] = {.size = message.size,
                       .source = event.source,
                       .tag = message.tag,
                       .number = event.sequence,
                       .sending = message.sending,
                       .message_class = message.message_class,
                       .kind = message.kind};
    return handle;
}

/// Process an arrival whose CPU and NIC are free at `now`.
template <Source S, class Log>
void RankWorker<S, Log>::receive(const Request<Cookie>& request, Time now) {
    const Op& op = request.ready.op;
    const Receive<Cookie> taken{.cpu = op.cpu, .nic = op.nic};
    const Time processed = occupy_receiver(taken, costs_of(request.message_class, op.size, op.peer), now);
    if (request.work == Work::receive_expected) [[likely]] {
        op_ended(request.handle, request.ready.cookie, processed);
    } else if (request.work == Work::receive_clear_to_send) {
        cleared_to_send(request.handle, processed);
    } else {
        Stray<Cookie>& stray = strays_[request.handle];
        stray.processed_at = processed;
        if (stray.matched) {
            meet(request.handle);
        }
    }
}

/// The receive is posted and the message processed: both sides go on at the later of the two times.
template <Source S, class Log>
void RankWorker<S, Log>::meet(std::uint32_t handle) {
    const Stray<Cookie>& stray = strays_[handle];
    const Time time = std::max(stray.matched_at, stray.processed_at);
    if (stray.kind == MessageKind::request_to_send) {
        plan_clear_to_send(handle, time);
        return;
    }
    const Receive<Cookie> receive = stray.receive;
    strays_.remove(handle);
    op_ended(receive.place, receive.cookie, time);
}

}  // namespace idlewave
