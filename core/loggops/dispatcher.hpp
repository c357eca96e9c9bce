#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "goal/source.hpp"
#include "loggops/agenda.hpp"
#include "loggops/message.hpp"
#include "loggops/op_execution.hpp"
#include "loggops/program_order.hpp"
#include "loggops/rank_parts.hpp"
#include "loggops/request.hpp"
#include "loggops/request_execution.hpp"
#include "loggops/started_op.hpp"
#include "pdes/event.hpp"

namespace idlewave::loggops {

/// Decides what a rank does next (docs/model.md, R14 and R15): an arrival, a pending request, or an op that has just
/// become ready.
template <goal::Source S, class Observer>
class Dispatcher {
  public:
    using Parts = RankParts<S, Observer>;
    using Moment = typename Parts::Moment;
    using Cookie = typename Parts::Cookie;
    using Layout = typename Parts::Tables::Layout;
    using Ready = goal::ReadyOp<Cookie, Moment>;
    using Event = pdes::Event<typename Observer::Payload>;

    explicit Dispatcher(typename Parts::Tables& tables) : requests_(tables), program_order_(ops()) {}

    [[nodiscard]] Parts& parts() { return requests_.parts(); }
    [[nodiscard]] const Parts& parts() const { return requests_.parts(); }

    // Each of these functions returns the time at which the rank goes on by itself.

    /// The rank begins, and does everything that no arrival at `until` or later can change (is_decided).
    template <class Context>
    Time start(Time until, Context& context) {
        parts().occupation.begin(parts().current);
        parts().dependencies.begin(parts().current);
        start_successors_out_of_line(false, until, false, context);
        return run({}, until, context);
    }

    /// Handles `events` and everything that the rank does by itself and no later arrival can change, in order of time.
    template <class Context>
    [[gnu::noinline]] Time run(std::span<const Event> events, Time until, Context& context) {
        const Event* event = events.data();
        const Event* const end = event + events.size();
        while (true) {
            const Time next_event = event == end ? until : event->time;
            if (program_order_.is_paused()) {
                resume(next_event, context);
                if (program_order_.is_paused()) {
                    if (event == end) {
                        return program_order_.goes_on_at();
                    }
                    event = arrive_while_paused(event, end);
                }
                continue;
            }
            if (parts().current.state().match.slot.end_pending()) {
                if (event == end && pending_end() >= until) {
                    return pending_end();
                }
                report_pending_end(next_event, context);
                continue;
            }
            Next next;
            if (!parts().agenda.idle()) {
                next = parts().agenda.next(parts().current.free_times());
                if (parts().decisions.is_decided(parts().current, next.at, next.ready, next_event)) {
                    start_next(next, next_event, event == end, context);
                    continue;
                }
            }
            if (event == end) {
                return next.at;
            }
            const Event* const first = event++;
            const Time second_event = event == end ? until : event->time;
            if (second_event > next_event && first->payload->kind == MessageKind::data) [[likely]] {
                if (parts().agenda.idle()) {
                    const bool is_ready = arrive(*first, second_event, event == end, context);
                    start_successors(is_ready, second_event, event == end, context);
                    if (event == end && program_order_.is_paused()) {  // it need not try again
                        return program_order_.goes_on_at();
                    }
                    continue;
                }
                if (is_received_first(*first, next)) {
                    receive_before_others(*first);
                    continue;
                }
            }
            arrive_among_others(*first);
            for (; event != end && event->time == next_event; ++event) {
                arrive_among_others(*event);
            }
            request_ops_made_ready_by_arrivals();
        }
    }

    /// The same with one event, most often for a rank without a pending request.
    template <class Context>
    [[gnu::always_inline]] Time run_one(const Event& event, Time until, Context& context) {
        if (parts().agenda.idle() && !parts().current.state().match.slot.end_pending() && !program_order_.is_paused() &&
            event.payload->kind == MessageKind::data) [[likely]] {
            start_successors(arrive(event, until, true, context), until, true, context);
            return !parts().agenda.idle()       ? run({}, until, context)
                   : program_order_.is_paused() ? program_order_.goes_on_at()
                                                : pending_end();
        }
        return run(std::span(&event, 1), until, context);
    }

    /// Handles `events`, which arrive at `now`, and starts at most one request. Returns `now` if it has started one:
    /// the rank goes on at once.
    template <class Context>
    Time step(std::span<const Event> events, Time now, Context& context) {
        for (const Event& event : events) {
            arrive_among_others(event);
        }
        request_ops_made_ready_by_arrivals();
        const Next next = parts().agenda.next(parts().current.free_times());
        if (next.at > now) {
            return next.at;
        }
        requests_.start({now, next.ready, next.queue}, context);
        requests_.request_ready_ops();
        return now;
    }

  private:
    using Entry = Request<Cookie, Moment>;
    using Ended = EndedOp<Cookie, Moment>;
    using Next = typename RequestExecution<S, Observer>::Next;

    [[nodiscard]] OpExecution<S, Observer>& ops() { return requests_.ops(); }
    [[nodiscard]] const OpExecution<S, Observer>& ops() const { return requests_.ops(); }

    /// The time at which the rank reports the end of a receive, if it has one to report.
    [[nodiscard]] Time pending_end() const {
        return parts().current.state().match.slot.end_pending() ? time_of(parts().current.free_times()[Layout::cpu(0)])
                                                                : never;
    }

    /// Reports the end of a receive that was beyond `until` when the receive was handled. Since then the rank has done
    /// nothing else.
    template <class Context>
    [[gnu::noinline]] void report_pending_end(Time until, Context& context) {
        auto& slot = parts().current.state().match.slot;
        slot.state = ReceiveSlot<Cookie>::State::empty;
        const Moment end = parts().current.free_times()[Layout::cpu(0)];
        const Ended ended{.op_index = slot.op_index, .cookie = slot.cookie, .at = end};
        start_successors_out_of_line(parts().dependencies.ended(parts().current, ended, parts().next[0]), until, false,
                                     context);
    }

    /// Whether `a` starts before `b`: by start, ready time, kind, and op index (R15).
    [[nodiscard]] bool goes_first(const Ready& a, const Ready& b) const {
        if (!parts().transmission.posts_take_cpu() && a.op.kind == goal::OpKind::send &&
            b.op.kind == goal::OpKind::recv) [[likely]] {
            // Of one start, the send was ready no later than the receive.
            return time_of(ops().start_of(a)) <= time_of(b.at);
        }
        const auto order = [this](const Ready& ready) {
            return std::tuple(time_of(ops().start_of(ready)), time_of(ready.at),
                              priority_of(ready.op.kind, parts().transmission.posts_take_cpu()), ready.op_index);
        };
        return order(a) < order(b);
    }

    // ---- arrivals

    /// A message arrives, and the rank does nothing else before `until`. Returns whether this made an op ready that is
    /// now in `next[0]`.
    template <class Context>
    [[gnu::always_inline]] bool arrive(const Event& event, Time until, bool may_pause, Context& context) {
        Ended ended;
        const Time limit =
            parts().decisions.looks_ahead() ? never : until;  // no later arrival is received before this one
        if (!parts().reception().arrive(parts().current, event, limit, ended)) [[unlikely]] {
            return false;
        }
        if constexpr (ProgramOrder<S, Observer>::is_possible) {
            if (program_order_.is_in_order(ended.cookie)) [[likely]] {
                return program_order_.ended(ended, until, may_pause, parts().next[0], context);
            }
        }
        if constexpr (S::single_cpu_and_nic) {
            // Of other ops the end waits in the memory of the slot. If the message matched a later receive, the slot
            // still holds the oldest one.
            auto& slot = parts().current.state().match.slot;
            if (ended.has_successors && time_of(ended.at) >= until &&
                same(ended.at, parts().current.free_times()[Layout::cpu(0)]) && !slot.posted()) {
                slot.set_pending_end({.op_index = ended.op_index, .cookie = ended.cookie});
                return false;
            }
        }
        return parts().dependencies.ended(parts().current, ended, parts().next[0]);
    }

    /// Whether the reception of a message that arrives now begins before `next`, which is the first of the pending
    /// requests. No later arrival precedes it.
    [[nodiscard]] bool is_received_first(const Event& event, const Next& next) const {
        if (!parts().decisions.looks_ahead()) {
            return false;
        }
        const Time begin = parts().decisions.begin_of_reception(parts().current, event.time);
        return begin < next.at || (begin == next.at && event.time < next.ready);
    }

    /// Receives such a message. An op that this makes ready becomes a request among the others.
    void receive_before_others(const Event& event) {
        Ended ended;
        if (parts().reception().arrive(parts().current, event, never, ended) &&
            parts().dependencies.ended(parts().current, ended, parts().next[0])) {
            requests_.request_op(parts().next[0]);
        }
        requests_.request_ready_ops();
    }

    /// A message arrives while other requests are pending, or other messages arrive at the same time. Its reception is
    /// a request, too.
    [[gnu::noinline]] void arrive_among_others(const Event& event) {
        Ended none;
        switch (event.payload->kind) {
            case MessageKind::data:
                parts().reception().arrive(parts().current, event, event.time, none);
                break;
            case MessageKind::request_to_send:
                parts().rendezvous.arrive_request_to_send(parts().current, event);
                break;
            case MessageKind::clear_to_send:
                parts().rendezvous.arrive_clear_to_send(parts().current, event);
                break;
            case MessageKind::rendezvous_data:
                parts().rendezvous.arrive_data(event);
                break;
            default:
                arrive_one_sided(event);
                break;
        }
    }

    /// A message of a one-sided operation arrives. An acknowledgement ends its op at once.
    void arrive_one_sided(const Event& event) {
        if constexpr (MayHaveOneSided<S>) {
            Ended ended;
            if (parts().one_sided.arrive(parts().current, event, ended)) {
                ops().end(ended);
            }
        }
    }

    /// Only acknowledgements make ops ready at their arrival; other messages do once they are received.
    void request_ops_made_ready_by_arrivals() {
        if constexpr (MayHaveOneSided<S>) {
            requests_.request_ready_ops();
        }
    }

    // ---- requests

    /// Starts the request that is next, and then the ops that this makes ready.
    template <class Context>
    void start_next(const Next& next, Time until, bool may_pause, Context& context) {
        bool is_ready = false;
        if (parts().agenda.one() && is_simple(parts().agenda.head(next.queue).kind)) {
            is_ready = start_only_request(next, until, may_pause, context);
        } else {
            requests_.start(next, context);
        }
        start_successors_out_of_line(is_ready, until, may_pause, context);
    }

    /// Starts the only pending request, which is simple. Returns whether an op is now in `next[0]`: the op of the
    /// request, or one that the reception of a message has made ready.
    template <class Context>
    bool start_only_request(const Next& next, Time until, bool may_pause, Context& context) {
        const std::uint32_t number = parts().agenda.take(next.queue);
        const Entry& request = parts().agenda[number];
        if (request.kind != RequestKind::receive_expected) {
            parts().next[0] = request.ready;
            parts().agenda.done(number);
            return true;
        }
        const Moment end =
            parts().reception().receive_expected(parts().current, request, requests_.start_of(request, next.at));
        const Ended ended = ops().ended_at(request.ready, end);
        parts().agenda.done(number);
        return end_op(ended, false, until, may_pause, parts().next[0], context);
    }

    // ---- program order

    /// An op ends. `other_is_ready` says whether another op is ready that is not in the list. Returns whether this made
    /// an op ready that is now in `next`.
    template <class Context>
    [[gnu::always_inline]] bool end_op(const Ended& ended, bool other_is_ready, Time until, bool may_pause, Ready& next,
                                       Context& context) {
        if constexpr (ProgramOrder<S, Observer>::is_possible) {
            const bool others = other_is_ready || !parts().agenda.idle() || !parts().dependencies.ready().empty();
            if (!others && program_order_.is_in_order(ended.cookie)) [[likely]] {
                return program_order_.ended(ended, until, may_pause, next, context);
            }
        }
        return parts().dependencies.ended(parts().current, ended, next);
    }

    /// A rank that has paused goes on up to an arrival at `until`, if it can.
    template <class Context>
    [[gnu::always_inline]] void resume(Time until, Context& context) {
        if constexpr (ProgramOrder<S, Observer>::is_possible) {
            const bool is_ready = program_order_.go_on(until, true, parts().next[0], context);
            if (is_ready || !parts().dependencies.ready().empty()) [[unlikely]] {
                start_successors_out_of_line(is_ready, until, false, context);
            }
        }
    }

    /// The first of `events` arrives, and precedes what a rank that has paused does next. Returns the events after it.
    /// Where several arrive at that time, or it is no eager message, the rank's next op becomes a request, and the
    /// event is still to be handled. Where the message has made another op a request, the rank's next op becomes one,
    /// too.
    [[nodiscard]] const Event* arrive_while_paused(const Event* event, const Event* end) {
        if constexpr (ProgramOrder<S, Observer>::is_possible) {
            const bool is_alone = event + 1 == end || event[1].time > event->time;
            if (is_alone && event->payload->kind == MessageKind::data) [[likely]] {
                receive_before_others(*event++);
                if (parts().agenda.idle()) {
                    return event;
                }
            }
            if (program_order_.hand_out(parts().next[0])) {
                requests_.request_op(parts().next[0]);
            }
            requests_.request_ready_ops();
        }
        return event;
    }

    // ---- ops

    /// Starts ops that are ready: the one in `next[0]`, if `is_ready`, and those in the list; and those that they make
    /// ready. An op whose start an arrival at `until` or later may change becomes a request; or the rank pauses before
    /// it, if it `may_pause` (ProgramOrder).
    template <class Context>
    [[gnu::always_inline]] void start_successors(bool is_ready, Time until, bool may_pause, Context& context) {
        do {
            start_one_by_one(is_ready, until, may_pause, context);
            is_ready = !parts().dependencies.ready().empty() && start_until_alone(until, context);
        } while (is_ready);
    }

    /// Starts ops that become ready one by one, while no request is pending and the list is empty. `is_ready` says
    /// whether the first one is in `next[0]`. With the list alone a dissemination takes a third longer (53 for 39 ns a
    /// message).
    template <class Context>
    [[gnu::always_inline]] void start_one_by_one(bool is_ready, Time until, bool may_pause, Context& context) {
        Ready* next = &parts().next[0];
        Ready* spare = &parts().next[1];
        while (is_ready && parts().dependencies.ready().empty()) {
            Moment at = ops().start_of(*next);
            if (!parts().decisions.is_decided(parts().current, time_of(at), time_of(next->at), until)) {
                requests_.request_op(*next);
                return;
            }
            if constexpr (MayHaveOneSided<S>) {
                if (goal::is_one_sided(next->op.kind)) [[unlikely]] {
                    start_to_list(*next, at, context);
                    is_ready = false;
                    break;
                }
            }
            bool sends = next->op.kind == goal::OpKind::send;
            if (next->op.kind == goal::OpKind::recv) {
                sends = parts().dependencies.brings_send(*next);
                typename OpExecution<S, Observer>::Post outcome;
                is_ready = ops().post(*next, at, *next, outcome);
                if (outcome.has_ended && end_op(outcome.ended, is_ready, until, may_pause, *spare, context)) {
                    parts().dependencies.add_ready(is_ready, *next);
                    std::swap(next, spare);
                    is_ready = true;
                    continue;
                }
                if (outcome.matched && !parts().agenda.idle()) {
                    break;  // the message of a rendezvous requests its clear to send
                }
                if (!sends || !parts().dependencies.ready().empty()) {
                    continue;
                }
                at = parts().occupation.start_of_send(parts().current, next->at, next->op.cpu, next->op.nic);
                if (!parts().decisions.is_decided(parts().current, time_of(at), time_of(next->at), until)) {
                    requests_.request_op(*next);
                    return;
                }
            }
            if (sends && !parts().transmission.is_eager(parts().current, next->op)) [[unlikely]] {
                start_to_list(*next, at, context);
                is_ready = false;
                break;
            }
            ops().record_start(*next, at);
            const Moment end =
                sends ? parts().transmission.send_eagerly(parts().current, *next, ops().started_op(*next), at, context)
                      : parts().occupation.compute(parts().current, *next, at);
            const Ended ended = ops().ended_at(*next, end);
            is_ready = parts().dependencies.started(parts().current, *next, at, *next);
            if (end_op(ended, is_ready, until, may_pause, *spare, context)) {
                parts().dependencies.add_ready(is_ready, *next);
                std::swap(next, spare);
                is_ready = true;
            }
        }
        parts().dependencies.add_ready(is_ready, *next);
    }

    /// start_successors for callers off the path of an arrival, which is the most frequent: compiled once, which makes
    /// the compilation of a simulation a twentieth shorter.
    template <class Context>
    [[gnu::noinline]] void start_successors_out_of_line(bool is_ready, Time until, bool may_pause, Context& context) {
        start_successors(is_ready, until, may_pause, context);
    }

    /// Starts an op. Those that this makes ready are added to the list.
    template <class Context>
    [[gnu::noinline]] void start_to_list(const Ready& ready, const Moment& at, Context& context) {
        ops().start(ready, at, context);
    }

    /// Starts ops in the list while there are two, the one that goes first. Returns whether one alone is left, which is
    /// now in `next[0]`. Of more than two, or if a request is pending, all become requests.
    template <class Context>
    [[gnu::noinline]] bool start_until_alone(Time until, Context& context) {
        while (parts().agenda.idle() && parts().dependencies.ready().size() <= 2) {
            auto& ready = parts().dependencies.ready();
            if (ready.empty()) {
                return false;
            }
            if (ready.size() == 1) {
                parts().next[0] = ready[0];
                ready.clear();
                return true;
            }
            const std::size_t first = goes_first(ready[1], ready[0]) ? 1 : 0;
            const Moment at = ops().start_of(ready[first]);
            if (!parts().decisions.is_decided(parts().current, time_of(at), time_of(ready[first].at), until)) {
                break;
            }
            auto& starting = parts().dependencies.swap_ready();
            ops().start(starting[first], at, context);
            parts().dependencies.add_ready(true, starting[1 - first]);
            starting.clear();
        }
        requests_.request_ready_ops();
        return false;
    }

    RequestExecution<S, Observer> requests_;  ///< first: it owns the parts
    ProgramOrder<S, Observer> program_order_;
};

}  // namespace idlewave::loggops
