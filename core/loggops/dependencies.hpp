#pragma once

#include "loggops/worker.hpp"

/// What a rank does next (docs/model.md: "Who goes first"): arrivals, requests that wait, and the ops that
/// have just become ready.
namespace idlewave {

/// Executes the arrivals and everything that the rank does before `until`, in the order of time.
template <Source S, class Observer>
template <class Context>
[[gnu::noinline]] Time RankWorker<S, Observer>::run_until(std::span<const Event> events, Time until, Context& context) {
    const Event* event = events.data();
    const Event* const end = event + events.size();
    while (true) {
        const Time next_arrival = event == end ? until : event->time;
        if (rank_->posted.end_pending) {
            if (event == end && pending_end() >= until) {
                return leave(pending_end());
            }
            report_pending_end(next_arrival, context);
            continue;
        }
        if (!agenda_.idle()) {
            const auto next = agenda_.next(free_times());
            if (next.at < next_arrival) {
                if (agenda_.one() && is_simple(agenda_[next.index].kind)) {
                    follow(start_only_request(next), next_arrival, context);
                } else {
                    perform(next, context);
                    follow_all(next_arrival, context);
                }
                continue;
            }
            if (event == end) {
                return leave(next.at);
            }
        } else if (event == end) {
            return leave(never);
        }
        const Event* const first = event++;
        const Time then = event == end ? until : event->time;
        if (agenda_.idle() && then > next_arrival && first->payload->kind == MessageKind::data) [[likely]] {
            meet_alone(*first, then, context);
            continue;
        }
        arrive(*first);
        for (; event != end && event->time == next_arrival; ++event) {
            arrive(*event);
        }
    }
}

/// The only request, whose time has come: it is no longer one. Returns whether an op is now in `next_[0]`: it, or
/// what the reception of a message has made ready.
template <Source S, class Observer>
bool RankWorker<S, Observer>::start_only_request(const typename Agenda<Cookie, Moment>::Next& next) {
    const Request<Cookie, Moment> request = agenda_[next.index];
    agenda_.done(next.index);
    if (request.kind != RequestKind::receive_expected) {
        next_[0] = request.ready;
        return true;
    }
    const Moment processed = receive(request, start_of(request, next.at));
    return report_end(request.handle, request.ready.cookie, processed, next_[0]);
}

/// Do what a request asks for, whose time has come.
template <Source S, class Observer>
template <class Context>
void RankWorker<S, Observer>::perform(const typename Agenda<Cookie, Moment>::Next& next, Context& context) {
    performing_ = agenda_.take(next.index);
    const Request<Cookie, Moment>& request = agenda_[performing_];
    const Moment now = start_of(request, next.at);
    switch (request.kind) {
        case RequestKind::receive_expected:
            op_ended(request.handle, request.ready.cookie, receive(request, now));
            break;
        case RequestKind::receive_clear_to_send:
            cleared_to_send(request.handle, receive(request, now));
            break;
        case RequestKind::receive_unexpected:
        case RequestKind::receive_request_to_send:
        case RequestKind::receive_data:
            message_processed(request.handle, receive(request, now));
            break;
        case RequestKind::send_clear_to_send:
            send_clear_to_send(request, now, context);
            break;
        case RequestKind::send_data:
            send_data(request, now, context);
            break;
        case RequestKind::send:
        case RequestKind::post:
        case RequestKind::calc:
            perform(request.ready, now, context);
            break;
    }
    agenda_.done(performing_);
    performing_ = nothing;
}

template <Source S, class Observer>
template <class Context>
[[gnu::always_inline]] inline void RankWorker<S, Observer>::perform(const Ready& ready, const Moment& now,
                                                                    Context& context) {
    switch (ready.op.kind) {
        case OpKind::send:
            send(ready, now, context);
            break;
        case OpKind::recv: {
            Ready next;
            keep(post_among_others(ready, now, next), next);
            break;
        }
        case OpKind::calc:
            calc(ready, now);
            break;
    }
}

/// Reports a receive's end to the source. The end lay beyond what was known of the rank's future when the receive
/// began. Until now the rank has done nothing else, so that no op misses what the end makes ready.
template <Source S, class Observer>
template <class Context>
[[gnu::noinline]] void RankWorker<S, Observer>::report_pending_end(Time until, Context& context) {
    Receive<Cookie>& receive = rank_->posted;
    receive.end_pending = false;
    const Moment end = free_times()[Layout::cpu(0)];
    follow(report_end(receive.op_index, receive.cookie, end, next_[0]), until, context);
}

/// Ops that become ready one by one, while nothing else waits: `there` says whether there is one, in `next_[0]`.
/// What may not start before `until` has to be asked for.
template <Source S, class Observer>
template <class Context>
[[gnu::always_inline]] inline void RankWorker<S, Observer>::follow(bool there, Time until, Context& context) {
    Ready* next = &next_[0];
    Ready* spare = &next_[1];
    while (there && ready_->empty()) {
        Moment at = start_of(*next);
        if (time_of(at) >= until) {
            request_op(*next);
            return;
        }
        bool sends = next->op.kind == OpKind::send;
        if (next->op.kind == OpKind::recv) {
            if (!posts_alone()) {
                there = post_among_others(*next, at, *next);
                if (agenda_.idle()) {
                    continue;
                }
                break;  // a message of a rendezvous may be cleared to send
            }
            sends = brings_send(*next);
            there = post_alone(*next, at);
            if (!sends) {
                continue;
            }
            at = start_of_send(*next);
            if (time_of(at) >= until) {
                request_op(*next);
                return;
            }
        }
        if (sends && !is_eager(next->op)) [[unlikely]] {
            break;
        }
        const OpIndex op_index = next->op_index;
        const Cookie cookie = next->cookie;
        const Moment end = sends ? begin_send(*next, at, context) : begin_calc(*next, at);
        there = report_start(op_index, cookie, at, *next);
        if (report_end(op_index, cookie, end, *spare)) {
            keep(there, *next);
            std::swap(next, spare);
            there = true;
        }
    }
    keep(there, *next);
    if (!ready_->empty()) [[unlikely]] {
        follow_all(until, context);
    }
}

/// The same for those that are written down. The next is one of them, as long as nothing else waits.
template <Source S, class Observer>
template <class Context>
[[gnu::noinline]] void RankWorker<S, Observer>::follow_all(Time until, Context& context) {
    while (agenda_.idle() && ready_->size() <= 2) {
        if (ready_->empty()) {
            return;
        }
        // The op stays where it is, and what its start makes ready goes elsewhere: a copy would be loaded as a
        // whole, and wait for the stores of its parts.
        ReadyList& starting = *ready_;
        const bool alone = starting.size() == 1;
        const std::size_t first = alone || !goes_first(starting[1], starting[0]) ? 0 : 1;
        const Moment at = start_of(starting[first]);
        if (time_of(at) >= until) {
            break;
        }
        ready_ = &ready_lists_[ready_ == &ready_lists_[0] ? 1 : 0];
        perform(starting[first], at, context);
        if (!alone) {
            ready_->push_back(starting[1 - first]);
        }
        starting.clear();
    }
    request_ready_ops();
}

}  // namespace idlewave
