#pragma once

#include "loggops/worker.hpp"

/// What a message costs its sender and its receiver (SEMANTICS.md: "send, eager", "arrival", "a receive ends").
namespace idlewave {

template <Source S, class Observer>
[[gnu::always_inline]] inline const Costs& RankWorker<S, Observer>::costs_of(std::uint16_t message_class,
                                                                             std::uint64_t size, std::uint32_t peer) {
    const bool node = within_node(peer);
    if (message_class != Message::no_class) {
        return node ? model_.classes[message_class].node : model_.classes[message_class].network;
    }
    odd_costs_ = costs(node ? *model_.machine.node : model_.machine.network, size);
    return odd_costs_;
}

/// The CPU's part of a message, from `begin` on: an overhead, and what O costs.
template <Source S, class Observer>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::transfer(Doing doing, const Overhead& overhead,
                                                                     const Costs& costs, const About& message,
                                                                     Place place, Time begin) -> Transfer {
    const Stands stands = stands_of(begin, overhead, costs.over);
    return {{.doing = doing,
             .message = message.kind,
             .within_node = within_node(message.peer),
             .peer = message.peer,
             .size = message.size,
             .place = place,
             .stands = stands.first,
             .stands_late = stands.late},
            occupy(begin, overhead, costs.over)};
}

/// A transmission takes the CPU and the NIC's send side from `now` on.
template <Source S, class Observer>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::occupy_sender(const Receive<Cookie>& op,
                                                                          const About& message, const Costs& costs,
                                                                          const Moment& now) -> Sent {
    const Time begin = time_of(now);
    const auto [activity, cpu] =
        transfer(Doing::transmission, {costs.o_s, model_.machine.noise_reach.o_s}, costs, message, op.place, begin);
    const auto begun = model_.observer.begin(self_, now, activity);
    const Moment free = model_.observer.at(begun, Point::sender_free, cpu.end);
    clocks()[Layout::cpu(op.cpu)] = free;
    clocks()[model_.layout.tx(op.nic)] = model_.observer.at(begun, Point::sender_gap, later(begin, costs.gap));
    ++messages_;
    return {free, later(cpu.overhead, costs.L), model_.observer.post(begun)};
}

/// The same, and the message is on its way. Returns when the CPU is free of it.
template <Source S, class Observer>
template <class Context>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::transmit(const Receive<Cookie>& op, std::uint32_t peer,
                                                                     const Message& message, const Costs& costs,
                                                                     const Moment& now, Context& context) -> Moment {
    const Sent sent = occupy_sender(op, {message.kind, peer, message.size}, costs, now);
    if constexpr (Observer::looks) {
        context.send(peer, sent.arrival, message, sent.carried);
    } else {
        context.send(peer, sent.arrival, message);
    }
    return sent.free;
}

template <Source S, class Observer>
template <class Context>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::send_eagerly(const Ready& ready, const Moment& now,
                                                                         Context& context) -> Moment {
    const Op& op = ready.op;
    const Receive<Cookie> at = handed_over(ready);
    const std::uint16_t message_class = recent_.number(op.size, op.tag);
    const Costs& costs = costs_of(message_class, op.size, op.peer);
    if constexpr (!Observer::looks) {
        if (message_class != Message::no_class) [[likely]] {
            const Sent sent = occupy_sender(at, {MessageKind::data, op.peer, op.size}, costs, now);
            context.send(op.peer, sent.arrival, message_class);
            return sent.free;
        }
    }
    const Message message{.size = op.size, .tag = op.tag, .message_class = message_class};
    return transmit(at, op.peer, message, costs, now, context);
}

/// A reception takes the CPU and the NIC's receive side from `now` on. Returns when the message is processed.
template <Source S, class Observer>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::occupy_receiver(const Receive<Cookie>& op,
                                                                            const About& message, const Costs& costs,
                                                                            const Moment& now) -> Moment {
    const Time begin = time_of(now);
    const auto [activity, cpu] =
        transfer(Doing::reception, {costs.o_r, model_.machine.noise_reach.o_r}, costs, message, op.place, begin);
    const auto begun = model_.observer.begin(self_, now, activity);
    const Moment free = model_.observer.at(begun, Point::receiver_free, cpu.end);
    clocks()[Layout::cpu(op.cpu)] = free;
    clocks()[model_.layout.rx(op.nic)] = model_.observer.at(begun, Point::receiver_gap, later(begin, costs.gap));
    const Time after_overhead = cpu.end - cpu.overhead;
    if (costs.bytes <= after_overhead && (!Observer::looks || costs.bytes < after_overhead || message.size <= 1)) {
        return free;  // and where both are as late, both have the same slopes
    }
    const Moment processed = latest(free, model_.observer.at(begun, Point::wire, later(cpu.overhead, costs.bytes)));
    model_.processed[self_] = latest(model_.processed[self_], processed);
    return processed;
}

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
    return latest(arrived, latest(clocks()[Layout::cpu(op.cpu)], clocks()[model_.layout.rx(op.nic)]));
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
        ask_to_receive(event, receive, Work::receive_expected, receive.place);
        return false;
    }
    const Moment processed = occupy_receiver(receive, {message.kind, event.source, message.size},
                                             costs_of(message.message_class, message.size, event.source), now);
    model_.observer.received(self_, receive.place, arrived, arrived, processed);
    if constexpr (S::one_of_each && !Observer::looks) {
        if (processed >= until && processed == clocks()[Layout::cpu(0)]) {
            State& rank = *rank_;
            rank.posted.place = receive.place;
            rank.posted.cookie = receive.cookie;
            rank.posted.to_be_told = true;
            return false;
        }
    }
    return tell_end(receive.place, receive.cookie, processed, next_[0]);
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
        ask_to_receive(event, receive, Work::receive_expected, receive.place);
    } else {
        await_receive(event);
    }
}

/// A message whose receive is not posted: it is received all the same, since progress is asynchronous.
template <Source S, class Observer>
void RankWorker<S, Observer>::await_receive(const Event& event) {
    const std::uint32_t stray = add_stray(event);
    add_unexpected(stray);
    ask_to_receive(event, {}, Work::receive_unexpected, stray);
}

/// The same while nothing else waits: received at once, unless that could not begin before `until`.
template <Source S, class Observer>
void RankWorker<S, Observer>::await_receive_alone(const Event& event, Time until) {
    const Receive<Cookie> unknown{.place = unknown_place};
    const Moment arrived = model_.observer.arrival(*event.payload, event.time);
    const Moment now = reception_at(arrived, unknown);
    if (time_of(now) >= until) {
        await_receive(event);
        return;
    }
    const Payload& message = *event.payload;
    const std::uint32_t handle = add_stray(event);
    add_unexpected(handle);
    message_processed(handle, occupy_receiver(unknown, {message.kind, event.source, message.size},
                                              costs_of(message.message_class, message.size, event.source), now));
}

/// Ask for what a reception needs: the CPU and NIC of `op`.
template <Source S, class Observer>
void RankWorker<S, Observer>::ask_to_receive(const Event& event, const Receive<Cookie>& op, Work work,
                                             std::uint32_t handle) {
    Request<Cookie, Moment>& reception = new_request();
    reception.ready.at = model_.observer.arrival(*event.payload, event.time);
    reception.ready.op = {.size = event.payload->size, .peer = event.source, .cpu = op.cpu, .nic = op.nic};
    reception.ready.place = event.sequence;
    reception.ready.cookie = op.cookie;
    reception.handle = handle;
    reception.message_class = event.payload->message_class;
    reception.first_need = Layout::cpu(op.cpu);
    reception.second_need = model_.layout.rx(op.nic);
    reception.turn = Turn::arrival;
    reception.work = work;
    agenda_.added();
}

/// The oldest posted receive that a message from `source` with `tag` matches, which is then no longer posted.
template <Source S, class Observer>
[[gnu::always_inline]] inline bool RankWorker<S, Observer>::take_posted(std::uint32_t source, std::uint32_t tag,
                                                                        Receive<Cookie>& receive) {
    State& rank = *rank_;
    const std::uint32_t posted = Observer::looks ? posted_receives() : 0;
    if (rank.posted.waits) {  // then no other does
        const bool agrees = rank.agrees(source, tag);
        if (agrees) {
            receive = rank.posted;
            rank.posted.waits = false;
        }
        model_.observer.arrived(self_, posted, agrees);
        return agrees;
    }
    const bool found = rank.has_crowd() && crowds_[rank.crowd].posted.take(source, tag, receive);
    model_.observer.arrived(self_, posted, found);
    return found;
}

template <Source S, class Observer>
std::uint32_t RankWorker<S, Observer>::posted_receives() const {
    const std::uint32_t many = rank_->has_crowd() ? crowds_[rank_->crowd].posted.size() : 0;
    return many + (rank_->posted.waits ? 1 : 0);
}

/// A message is unexpected. While there are no more than two, the rank itself knows of them.
template <Source S, class Observer>
void RankWorker<S, Observer>::add_unexpected(std::uint32_t stray) {
    const std::uint32_t first = rank_->first_stray();
    if (rank_->crowd == 0) {
        rank_->crowd = State::few + stray;
    } else if (first != 0 && strays_[first].next == 0) {
        strays_[first].next = stray;
    } else {
        crowd().unexpected.add(strays_[stray].source, strays_[stray].tag, stray);
    }
}

/// The oldest unexpected message that a receive from `source` with `tag` matches, which is then no longer unexpected.
template <Source S, class Observer>
[[gnu::always_inline]] inline bool RankWorker<S, Observer>::take_unexpected(std::uint32_t source, std::uint32_t tag,
                                                                            std::uint32_t& stray) {
    if (rank_->has_crowd()) {
        return crowds_[rank_->crowd].unexpected.take(source, tag, stray);
    }
    const auto agrees = [&](std::uint32_t handle) {
        return handle != 0 && agree(strays_[handle].source, source) && agree(strays_[handle].tag, tag);
    };
    const std::uint32_t first = rank_->first_stray();
    const std::uint32_t second = first != 0 ? strays_[first].next : 0;
    if (agrees(first)) {
        stray = first;
        rank_->crowd = second != 0 ? State::few + second : 0;
        return true;
    }
    if (agrees(second)) {
        stray = second;
        strays_[first].next = 0;
        return true;
    }
    return false;
}

template <Source S, class Observer>
std::uint32_t RankWorker<S, Observer>::unexpected_messages() const {
    if (rank_->has_crowd()) {
        return crowds_[rank_->crowd].unexpected.size();
    }
    const std::uint32_t first = rank_->first_stray();
    return first == 0 ? 0 : strays_[first].next == 0 ? 1 : 2;
}

/// A receive is posted while no other is, and no message waits. Returns whether this made an op ready, which takes the
/// place of `ready`.
template <Source S, class Observer>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::post_alone(Ready& ready, const Moment& now) -> bool {
    show_start(ready, now);
    model_.observer.posted(self_, 0, false);
    const Receive<Cookie> receive = handed_over(ready);
    wait_for(receive, ready.op.peer, ready.op.tag);
    return tell_posted(ready, now, ready);
}

/// The same while others are, or messages wait; `next` may be `ready`.
template <Source S, class Observer>
[[gnu::noinline]] auto RankWorker<S, Observer>::post_among_others(const Ready& ready, const Moment& now, Ready& next)
    -> bool {
    show_start(ready, now);
    const Receive<Cookie> receive = handed_over(ready);
    const std::uint32_t source = ready.op.peer;
    const std::uint32_t tag = ready.op.tag;
    const bool there = tell_posted(ready, now, next);
    look_for_message(receive, source, tag, now);
    return there;
}

/// The only receive that waits.
template <Source S, class Observer>
[[gnu::always_inline]] inline void RankWorker<S, Observer>::wait_for(const Receive<Cookie>& receive,
                                                                     std::uint32_t source, std::uint32_t tag) {
    State& rank = *rank_;
    rank.posted.place = receive.place;  // part by part: a copy would wait until the parts are stored
    rank.posted.cookie = receive.cookie;
    rank.posted.cpu = receive.cpu;
    rank.posted.nic = receive.nic;
    rank.posted.waits = true;
    rank.posted_source = source;
    rank.posted_tag = tag;
}

/// A receive takes the oldest unexpected message that it matches, or waits.
template <Source S, class Observer>
void RankWorker<S, Observer>::look_for_message(const Receive<Cookie>& receive, std::uint32_t source, std::uint32_t tag,
                                               const Moment& now) {
    State& rank = *rank_;
    std::uint32_t handle = 0;
    const std::uint32_t unexpected = Observer::looks ? unexpected_messages() : 0;
    const bool here = take_unexpected(source, tag, handle);
    model_.observer.posted(self_, unexpected, here);
    if (here) {
        Stray<Cookie, Moment>& stray = strays_[handle];
        stray.receive = receive;
        stray.matched = true;
        stray.matched_at = now;
        if (stray.processed) {
            meet(handle);
        }
        return;
    }
    if (!rank.posted.waits && (!rank.has_crowd() || crowds_[rank.crowd].posted.empty())) {
        wait_for(receive, source, tag);
        return;
    }
    auto& posted = crowd().posted;
    if (rank.posted.waits) {
        posted.add(rank.posted_source, rank.posted_tag, rank.posted);
        rank.posted.waits = false;
    }
    posted.add(source, tag, receive);
}

template <Source S, class Observer>
std::uint32_t RankWorker<S, Observer>::add_stray(const Event& event) {
    const Payload& message = *event.payload;
    const std::uint32_t handle = strays_.add();
    strays_[handle] = {.size = message.size,
                       .source = event.source,
                       .tag = message.tag,
                       .number = event.sequence,
                       .sending = message.sending,
                       .message_class = message.message_class,
                       .kind = message.kind,
                       .arrived_at = model_.observer.arrival(message, event.time)};
    return handle;
}

/// The op that a reception is for, as far as it is known.
template <Source S, class Observer>
Place RankWorker<S, Observer>::place_of(const Request<Cookie, Moment>& reception) const {
    if (reception.work == Work::receive_expected) {
        return reception.handle;
    }
    if (reception.work == Work::receive_clear_to_send) {
        return sends_[reception.handle].op.place;
    }
    const Stray<Cookie, Moment>& stray = strays_[reception.handle];
    return stray.matched ? stray.receive.place : unknown_place;
}

/// Process an arrival whose CPU and NIC are free at `now`. Returns when it is processed.
template <Source S, class Observer>
auto RankWorker<S, Observer>::receive(const Request<Cookie, Moment>& request, const Moment& now) -> Moment {
    const Op& op = request.ready.op;
    const Receive<Cookie> taken{.place = place_of(request), .cpu = op.cpu, .nic = op.nic};
    const Moment processed = occupy_receiver(taken, {kind_of(request.work), op.peer, op.size},
                                             costs_of(request.message_class, op.size, op.peer), now);
    if (request.work == Work::receive_expected) {
        model_.observer.received(self_, request.handle, request.ready.at, request.ready.at, processed);
    }
    return processed;
}

/// A message that had no receive when it arrived, or one of a rendezvous, is processed.
template <Source S, class Observer>
void RankWorker<S, Observer>::message_processed(std::uint32_t handle, const Moment& time) {
    Stray<Cookie, Moment>& stray = strays_[handle];
    stray.processed_at = time;
    stray.processed = true;
    if (stray.matched) {
        meet(handle);
    }
}

/// The receive is posted and the message processed: both sides go on at the later of the two times.
template <Source S, class Observer>
void RankWorker<S, Observer>::meet(std::uint32_t handle) {
    const Stray<Cookie, Moment>& stray = strays_[handle];
    const Moment time = latest(stray.matched_at, stray.processed_at);
    if (stray.kind == MessageKind::request_to_send) {
        plan_clear_to_send(handle, time);
        return;
    }
    const Receive<Cookie> receive = stray.receive;
    const bool announced = stray.kind == MessageKind::rendezvous_data;
    model_.observer.received(self_, receive.place, stray.arrived_at, announced ? stray.matched_at : stray.arrived_at,
                             stray.processed_at);
    strays_.remove(handle);
    op_ended(receive.place, receive.cookie, time);
}

}  // namespace idlewave
