#pragma once

#include "loggops/worker.hpp"

/// How a receive and its message find each other, in the order of MPI's matching, and what follows when they have
/// (docs/model.md: "Receiving").
namespace idlewave {

/// The oldest posted receive that a message from `source` with `tag` matches, which is then no longer posted.
template <Source S, class Observer>
[[gnu::always_inline]] inline bool RankWorker<S, Observer>::take_posted(std::uint32_t source, std::uint32_t tag,
                                                                        Receive<Cookie>& receive) {
    State& rank = *rank_;
    const std::uint32_t posted = Observer::observes ? posted_receives() : 0;
    if (rank.posted.waits) {  // then no other does
        const bool agrees = rank.agrees(source, tag);
        if (agrees) {
            receive = rank.posted;
            rank.posted.waits = false;
        }
        model_.observer.arrived(self_, posted, agrees);
        return agrees;
    }
    const bool found = rank.has_overflow() && overflows_[rank.overflow].posted.take(source, tag, receive);
    model_.observer.arrived(self_, posted, found);
    return found;
}

template <Source S, class Observer>
std::uint32_t RankWorker<S, Observer>::posted_receives() const {
    const std::uint32_t many = rank_->has_overflow() ? overflows_[rank_->overflow].posted.size() : 0;
    return many + (rank_->posted.waits ? 1 : 0);
}

/// A message is unexpected. While there are no more than two, the rank itself knows of them.
template <Source S, class Observer>
void RankWorker<S, Observer>::add_unexpected(std::uint32_t arrived) {
    const std::uint32_t first = rank_->first_unexpected();
    if (rank_->overflow == 0) {
        rank_->overflow = State::few + arrived;
    } else if (first != 0 && arrived_messages_[first].next == 0) {
        arrived_messages_[first].next = arrived;
    } else {
        overflow().unexpected.add(arrived_messages_[arrived].source, arrived_messages_[arrived].tag, arrived);
    }
}

/// The oldest unexpected message that a receive from `source` with `tag` matches, which is then no longer unexpected.
template <Source S, class Observer>
[[gnu::always_inline]] inline bool RankWorker<S, Observer>::take_unexpected(std::uint32_t source, std::uint32_t tag,
                                                                            std::uint32_t& arrived) {
    if (rank_->has_overflow()) {
        return overflows_[rank_->overflow].unexpected.take(source, tag, arrived);
    }
    const auto agrees = [&](std::uint32_t handle) {
        return handle != 0 && matches(arrived_messages_[handle].source, source) &&
               matches(arrived_messages_[handle].tag, tag);
    };
    const std::uint32_t first = rank_->first_unexpected();
    const std::uint32_t second = first != 0 ? arrived_messages_[first].next : 0;
    if (agrees(first)) {
        arrived = first;
        rank_->overflow = second != 0 ? State::few + second : 0;
        return true;
    }
    if (agrees(second)) {
        arrived = second;
        arrived_messages_[first].next = 0;
        return true;
    }
    return false;
}

template <Source S, class Observer>
std::uint32_t RankWorker<S, Observer>::unexpected_messages() const {
    if (rank_->has_overflow()) {
        return overflows_[rank_->overflow].unexpected.size();
    }
    const std::uint32_t first = rank_->first_unexpected();
    return first == 0 ? 0 : arrived_messages_[first].next == 0 ? 1 : 2;
}

/// A receive is posted while no other is, and no message waits. Returns whether this made an op ready, which takes the
/// place of `ready`.
template <Source S, class Observer>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::post_alone(Ready& ready, const Moment& now) -> bool {
    record_start(ready, now);
    model_.observer.posted(self_, 0, false);
    const Receive<Cookie> receive = started_op(ready);
    wait_for(receive, ready.op.peer, ready.op.tag);
    return report_posted(ready, now, ready);
}

/// The same while others are, or messages wait; `next` may be `ready`.
template <Source S, class Observer>
[[gnu::noinline]] auto RankWorker<S, Observer>::post_among_others(const Ready& ready, const Moment& now, Ready& next)
    -> bool {
    record_start(ready, now);
    const Receive<Cookie> receive = started_op(ready);
    const std::uint32_t source = ready.op.peer;
    const std::uint32_t tag = ready.op.tag;
    const bool there = report_posted(ready, now, next);
    look_for_message(receive, source, tag, now);
    return there;
}

/// The only receive that waits.
template <Source S, class Observer>
[[gnu::always_inline]] inline void RankWorker<S, Observer>::wait_for(const Receive<Cookie>& receive,
                                                                     std::uint32_t source, std::uint32_t tag) {
    State& rank = *rank_;
    rank.posted.op_index = receive.op_index;  // part by part: a copy would wait until the parts are stored
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
    const std::uint32_t unexpected = Observer::observes ? unexpected_messages() : 0;
    const bool here = take_unexpected(source, tag, handle);
    model_.observer.posted(self_, unexpected, here);
    if (here) {
        ArrivedMessage<Cookie, Moment>& arrived = arrived_messages_[handle];
        arrived.receive = receive;
        arrived.matched = true;
        arrived.matched_at = now;
        if (arrived.processed) {
            meet(handle);
        }
        return;
    }
    if (!rank.posted.waits && (!rank.has_overflow() || overflows_[rank.overflow].posted.empty())) {
        wait_for(receive, source, tag);
        return;
    }
    auto& posted = overflow().posted;
    if (rank.posted.waits) {
        posted.add(rank.posted_source, rank.posted_tag, rank.posted);
        rank.posted.waits = false;
    }
    posted.add(source, tag, receive);
}

/// The receive is posted and the message processed: both sides go on at the later of the two times.
template <Source S, class Observer>
void RankWorker<S, Observer>::meet(std::uint32_t handle) {
    const ArrivedMessage<Cookie, Moment>& arrived = arrived_messages_[handle];
    const Moment time = latest(arrived.matched_at, arrived.processed_at);
    if (arrived.kind == MessageKind::request_to_send) {
        request_clear_to_send(handle, time);
        return;
    }
    const Receive<Cookie> receive = arrived.receive;
    const bool announced = arrived.kind == MessageKind::rendezvous_data;
    model_.observer.received(self_, receive.op_index, arrived.arrived_at,
                             announced ? arrived.matched_at : arrived.arrived_at, arrived.processed_at);
    arrived_messages_.remove(handle);
    op_ended(receive.op_index, receive.cookie, time);
}

}  // namespace idlewave
