#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "base/archive.hpp"
#include "base/time.hpp"
#include "loggops/agenda.hpp"
#include "loggops/dependencies.hpp"
#include "loggops/matching.hpp"
#include "loggops/occupation.hpp"
#include "loggops/rank.hpp"
#include "loggops/reception.hpp"
#include "loggops/rendezvous.hpp"
#include "loggops/serialisation.hpp"
#include "loggops/tables.hpp"
#include "loggops/transmission.hpp"
#include "pdes/event.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave::loggops {

/// Simulates the ranks of a thread, one at a time. It decides what the rank does next (docs/model.md, R14 and R15): an
/// arrival, a pending request, or an op that has just become ready. The parts do it: each has its own data, a narrow
/// interface, and its own test.
template <goal::Source S, class Observer>
class RankWorker {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Observer::Moment;
    using Payload = typename Observer::Payload;
    using State = Rank<S, Moment>;
    using Cookie = typename S::Cookie;
    using Layout = typename Tables::Layout;
    using Ready = goal::ReadyOp<Cookie, Moment>;
    using Event = pdes::Event<Payload>;

    explicit RankWorker(Tables& tables)
        : tables_(tables),
          occupation_(tables),
          transmission_(tables, occupation_),
          reception_(tables, occupation_, agenda_, matching_, transmission_),
          rendezvous_(tables, agenda_, matching_, transmission_),
          dependencies_(tables) {}

    // The functions that the kernel calls (pdes::WindowModel): each returns the time at which the rank goes on by
    // itself.

    template <class Context>
    Time start(State& rank, Time until, Context& context) {
        enter(rank, context.self());
        occupation_.begin(current_);
        dependencies_.begin(current_);
        start_ready_ops(until, context);
        return run_until({}, until, context);
    }

    template <class Context>
    Time run(State& rank, std::span<const Event> events, Time until, Context& context) {
        write_undo_log(rank, context);
        enter(rank, context.self());
        return run_until(events, until, context);
    }

    /// The usual case: one event for a rank with no pending request.
    template <class Context>
    [[gnu::always_inline]] Time run_one(State& rank, const Event& event, Time until, Context& context) {
        write_undo_log(rank, context);
        enter(rank, context.self());
        if (agenda_.idle() && !rank.match.slot.end_pending() && event.payload->kind == MessageKind::data) [[likely]] {
            start_successors(arrive(event, until), until, context);
            return agenda_.idle() ? leave(pending_end()) : run_until({}, until, context);
        }
        return run_until(std::span(&event, 1), until, context);
    }

    template <class Context>
    Time step(State& rank, std::span<const Event> events, Time now, Context& context) {
        enter(rank, context.self());
        for (const Event& event : events) {
            arrive_among_others(event);
        }
        const auto next = agenda_.next(current_.free_times());
        if (next.at > now) {
            return leave(next.at);
        }
        start_request({now, next.index}, context);
        request_ready_ops();
        leave(never);
        return now;
    }

    [[gnu::always_inline]] void prefetch(const State& rank, std::uint32_t r) const {
        occupation_.prefetch(r);
        if constexpr (requires { tables_.source.prefetch(r, rank.source); }) {
            tables_.source.prefetch(r, rank.source);
        }
        if (!rank.requests.none() || !rank.match.queues.none()) {
            agenda_.prefetch(rank.requests);
            matching_.prefetch(rank.match);
        }
    }

    // ---- serialised ranks, for rollback, migration and checkpoints

    void pack(const State& rank, std::uint32_t r, Serialiser& serialiser) {
        rank_serialiser().pack(rank, r, serialiser);
        if constexpr (Observer::records) {
            tables_.observer.pack(r, serialiser);
        }
    }
    void unpack(State& rank, std::uint32_t r, Deserialiser& deserialiser) {
        rank_serialiser().unpack(rank, r, deserialiser);
        if constexpr (Observer::records) {
            tables_.observer.unpack(r, deserialiser);
        }
    }
    /// Writes what `undo` reads: the rows that a rank has recorded stay here.
    void pack_state(const State& rank, std::uint32_t r, Serialiser& serialiser) {
        rank_serialiser().pack(rank, r, serialiser);
        if constexpr (Observer::records) {
            tables_.observer.save(r, serialiser);
        }
    }
    /// Rolls a rank back to the state that `undo_data` holds.
    void undo(State& rank, std::span<const std::byte> undo_data, std::uint32_t r) {
        rank_serialiser().discard(rank, r);
        Deserialiser deserialiser(undo_data);
        rank_serialiser().unpack(rank, r, deserialiser);
        if constexpr (Observer::records) {
            tables_.observer.roll_back(r, deserialiser);
        }
    }

    /// Ranks and events that an optimistic scheduler handles conservatively. A rank with long queues takes longer to
    /// serialise than to simulate. Of an open rendezvous the other side knows a handle, which a rollback changes; and a
    /// message of a rendezvous refers to a record at its receiver, so it must not be handled too early.
    [[nodiscard]] bool is_conservative(const State& rank, std::uint32_t r) const {
        return matching_.has_overflow(rank.match) || rank.requests.in_queues() || rendezvous_.is_open(r);
    }
    [[nodiscard]] static bool is_conservative(const Payload& message) { return message.kind != MessageKind::data; }

    /// Gives a message from another process its class in this process. A message with data of an observer travels
    /// without a code.
    [[nodiscard]] std::uint16_t assign_code(Payload& message) {
        const std::uint16_t code = transmission_.classify(message);
        return Observer::observes ? Message::no_class : code;
    }

    // ---- results

    /// The messages that were sent; the kernel subtracts those that it rolls back.
    [[nodiscard]] std::uint64_t& executed() { return occupation_.messages(); }
    [[nodiscard]] std::uint64_t messages() const { return occupation_.messages(); }

    /// Adds everything that is unfinished in rank `r`, except its sends (docs/model.md, R20).
    void collect_unfinished(std::uint32_t r, const State& rank, standstill::Unfinished& unfinished) const {
        matching_.each_posted(rank.match, [&](std::uint32_t source, std::uint32_t tag, const auto& receive) {
            unfinished.add(standstill::PendingOp{
                .rank = r, .op_index = receive.op_index, .peer = source, .tag = tag, .kind = goal::OpKind::recv});
        });
        std::uint32_t number = 0;
        matching_.each_unexpected(rank.match, [&](std::uint32_t handle) {
            const auto& message = matching_[handle];
            if (message.kind == MessageKind::data) {
                unfinished.add(standstill::UnexpectedMessage{.size = message.size,
                                                             .receiver = r,
                                                             .number = number++,
                                                             .sender = message.source,
                                                             .tag = message.tag});
            }
        });
        if (const auto position = tables_.source.stop_position(r, rank.source)) {
            unfinished.add(standstill::UnfinishedRank{r, *position});
        }
    }

    /// Adds the unfinished sends of all ranks of the thread.
    void collect_unfinished_sends(standstill::Unfinished& unfinished) const {
        rendezvous_.collect_unfinished_sends(unfinished);
    }

  private:
    using Request = idlewave::loggops::Request<Cookie, Moment>;
    using Ended = EndedOp<Cookie, Moment>;
    using Next = typename Agenda<Cookie, Moment>::Next;

    // ---- one rank at a time

    [[gnu::always_inline]] void enter(State& rank, std::uint32_t number) {
        current_.enter(rank, number, S::single_cpu_and_nic ? nullptr : tables_.free_times_of(number, rank));
        agenda_.open(rank.requests);
    }

    /// `next` is the time at which the rank goes on by itself.
    [[gnu::always_inline]] Time leave(Time next) {
        State& rank = current_.state();
        rank.requests = agenda_.close();
        matching_.leave(rank.match);
        return next;
    }

    RankSerialiser<S, Observer> rank_serialiser() {
        return {tables_, agenda_, occupation_, matching_, rendezvous_, dependencies_};
    }

    template <class Context>
    void write_undo_log(State& rank, Context& context) {
        if constexpr (requires { context.undo_data->size(); }) {
            if (context.undo_data != nullptr) [[unlikely]] {
                Serialiser serialiser(*context.undo_data);
                pack_state(rank, context.self(), serialiser);
            }
        }
    }

    // ---- what is next (R14, R15)

    /// Handles `events` and everything that the rank does by itself before `until`, in order of time.
    template <class Context>
    [[gnu::noinline]] Time run_until(std::span<const Event> events, Time until, Context& context) {
        const Event* event = events.data();
        const Event* const end = event + events.size();
        while (true) {
            const Time next_event = event == end ? until : event->time;
            if (current_.state().match.slot.end_pending()) {
                if (event == end && pending_end() >= until) {
                    return leave(pending_end());
                }
                report_pending_end(next_event, context);
                continue;
            }
            if (!agenda_.idle()) {
                const Next next = agenda_.next(current_.free_times());
                if (next.at < next_event) {
                    if (agenda_.one() && is_simple(agenda_[next.index].kind)) {
                        start_successors(start_only_request(next), next_event, context);
                    } else {
                        start_request(next, context);
                        start_ready_ops(next_event, context);
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
            const Time second_event = event == end ? until : event->time;
            if (agenda_.idle() && second_event > next_event && first->payload->kind == MessageKind::data) [[likely]] {
                start_successors(arrive(*first, second_event), second_event, context);
                continue;
            }
            arrive_among_others(*first);
            for (; event != end && event->time == next_event; ++event) {
                arrive_among_others(*event);
            }
        }
    }

    /// The time at which the rank reports the end of a receive, if it has one to report.
    [[nodiscard]] Time pending_end() const {
        return current_.state().match.slot.end_pending() ? time_of(current_.free_times()[Layout::cpu(0)]) : never;
    }

    /// Reports the end of a receive that was beyond `until` when the receive was handled. Since then the rank has done
    /// nothing else.
    template <class Context>
    [[gnu::noinline]] void report_pending_end(Time until, Context& context) {
        auto& slot = current_.state().match.slot;
        slot.state = ReceiveSlot<Cookie>::State::empty;
        const Moment end = current_.free_times()[Layout::cpu(0)];
        start_successors(dependencies_.ended(current_, slot.op_index, slot.cookie, end, next_[0]), until, context);
    }

    [[nodiscard, gnu::always_inline]] Moment start_of(const Ready& ready) const {
        switch (ready.op.kind) {
            case goal::OpKind::send:
                return occupation_.start_of_send(current_, ready.at, ready.op.cpu, ready.op.nic);
            case goal::OpKind::recv:
                return ready.at;
            default:
                return occupation_.start_of_calc(current_, ready.at, ready.op.cpu);
        }
    }

    /// The start of a request whose start time is known.
    [[nodiscard, gnu::always_inline]] Moment start_of(const Request& request, Time at) const {
        if constexpr (!Observer::observes) {
            return at;
        } else if (request.kind == RequestKind::post) {
            return request.ready.at;
        } else {
            return latest(request.ready.at, current_.free_times()[request.first_resource],
                          current_.free_times()[request.second_resource]);
        }
    }

    /// Whether `a` starts before `b`: by start, ready time, kind, and op index (R15).
    [[nodiscard]] bool goes_first(const Ready& a, const Ready& b) const {
        if (a.op.kind == goal::OpKind::send && b.op.kind == goal::OpKind::recv) [[likely]] {
            return time_of(start_of(a)) <= time_of(b.at);  // of one start, the send was ready no later than the receive
        }
        const auto order = [this](const Ready& ready) {
            return std::tuple(time_of(start_of(ready)), time_of(ready.at), priority_of(ready.op.kind), ready.op_index);
        };
        return order(a) < order(b);
    }

    // ---- arrivals

    /// A message arrives, and the rank does nothing else before `until`. Returns whether this made an op ready that is
    /// now in `next_[0]`.
    [[gnu::always_inline]] bool arrive(const Event& event, Time until) {
        Ended ended;
        if (!reception_.arrive(current_, event, until, ended)) [[unlikely]] {
            return false;
        }
        if constexpr (S::single_cpu_and_nic) {
            if (time_of(ended.at) >= until && same(ended.at, current_.free_times()[Layout::cpu(0)])) {
                current_.state().match.slot.set_pending_end({.op_index = ended.op_index, .cookie = ended.cookie});
                return false;
            }
        }
        return dependencies_.ended(current_, ended.op_index, ended.cookie, ended.at, next_[0]);
    }

    /// A message arrives while other requests are pending, or other messages arrive at the same time. Its reception is
    /// a request, too.
    [[gnu::noinline]] void arrive_among_others(const Event& event) {
        Ended none;
        switch (event.payload->kind) {
            case MessageKind::data:
                reception_.arrive(current_, event, event.time, none);
                break;
            case MessageKind::request_to_send:
                rendezvous_.arrive_request_to_send(current_, event);
                break;
            case MessageKind::clear_to_send:
                rendezvous_.arrive_clear_to_send(current_, event);
                break;
            case MessageKind::rendezvous_data:
                rendezvous_.arrive_data(event);
                break;
        }
    }

    // ---- requests

    /// An op that cannot start yet becomes a request.
    [[gnu::noinline]] void request_op(const Ready& ready) {
        const goal::Op& op = ready.op;
        Request& request = agenda_.make();
        request.ready = ready;
        request.first_resource = Layout::cpu(op.cpu);
        request.second_resource = op.kind == goal::OpKind::send ? tables_.layout.tx(op.nic) : request.first_resource;
        request.priority = priority_of(op.kind);
        request.kind = request_kind_of(op.kind);
        agenda_.added();
    }

    [[gnu::always_inline]] void request_ready_ops() {
        if (!dependencies_.ready().empty()) {
            request_all_ready_ops();
        }
    }
    [[gnu::noinline]] void request_all_ready_ops() {
        for (const Ready& ready : dependencies_.ready()) {
            request_op(ready);
        }
        dependencies_.ready().clear();
    }

    /// Starts the only pending request, which is simple. Returns whether an op is now in `next_[0]`: the op of the
    /// request, or one that the reception of a message has made ready.
    bool start_only_request(const Next& next) {
        const Request request = agenda_[next.index];
        agenda_.done(next.index);
        if (request.kind != RequestKind::receive_expected) {
            next_[0] = request.ready;
            return true;
        }
        const Moment end = reception_.receive_expected(current_, request, start_of(request, next.at));
        return dependencies_.ended(current_, request.ready.op_index, request.ready.cookie, end, next_[0]);
    }

    template <class Context>
    void start_request(const Next& next, Context& context) {
        const std::uint32_t slot = agenda_.take(next.index);
        const Request& request = agenda_[slot];
        const Moment now = start_of(request, next.at);
        const std::uint32_t handle = request.handle;
        switch (request.kind) {
            case RequestKind::receive_expected:
                dependencies_.ended(current_, request.ready.op_index, request.ready.cookie,
                                    reception_.receive_expected(current_, request, now));
                break;
            case RequestKind::receive_unexpected:
            case RequestKind::receive_request_to_send:
                message_processed(handle, reception_.receive(current_, request, op_index_of_message(handle), now));
                break;
            case RequestKind::send_clear_to_send:
                rendezvous_.send_clear_to_send(current_, request, now, context);
                break;
            case RequestKind::receive_clear_to_send:
                rendezvous_.request_data(
                    handle, reception_.receive(current_, request, rendezvous_.op_index_of_send(handle), now));
                break;
            case RequestKind::send_data:
                end_op(rendezvous_.send_data(current_, request, now, context));
                break;
            case RequestKind::receive_data:
                end_op(rendezvous_.data_processed(
                    current_, handle,
                    reception_.receive(current_, request, rendezvous_.op_index_of_receive(handle), now)));
                break;
            case RequestKind::send:
            case RequestKind::post:
            case RequestKind::calc:
                start_op(request.ready, now, context);
                break;
        }
        agenda_.done(slot);
    }

    void end_op(const Ended& ended) { dependencies_.ended(current_, ended.op_index, ended.cookie, ended.at); }

    // ---- ops

    /// Starts ops that become ready one by one, while no request is pending. `is_ready` says whether the first one is
    /// in `next_[0]`. An op that cannot start before `until` becomes a request.
    template <class Context>
    [[gnu::always_inline]] void start_successors(bool is_ready, Time until, Context& context) {
        Ready* next = &next_[0];
        Ready* spare = &next_[1];
        while (is_ready && dependencies_.ready().empty()) {
            Moment at = start_of(*next);
            if (time_of(at) >= until) {
                request_op(*next);
                return;
            }
            bool sends = next->op.kind == goal::OpKind::send;
            if (next->op.kind == goal::OpKind::recv) {
                sends = dependencies_.brings_send(*next);
                bool matched = false;
                is_ready = post(*next, at, *next, matched);
                if (matched && !agenda_.idle()) {
                    break;  // the message of a rendezvous requests its clear to send
                }
                if (!sends || !dependencies_.ready().empty()) {
                    continue;
                }
                at = occupation_.start_of_send(current_, next->at, next->op.cpu, next->op.nic);
                if (time_of(at) >= until) {
                    request_op(*next);
                    return;
                }
            }
            if (sends && !transmission_.is_eager(current_, next->op.peer, next->op.size)) [[unlikely]] {
                break;
            }
            record_start(*next, at);
            const goal::OpIndex op_index = next->op_index;
            const Cookie cookie = next->cookie;
            const Moment end = sends ? transmission_.send_eagerly(current_, *next, started_op(*next), at, context)
                                     : occupation_.compute(current_, *next, at);
            is_ready = dependencies_.started(current_, op_index, cookie, at, *next);
            if (dependencies_.ended(current_, op_index, cookie, end, *spare)) {
                dependencies_.add_ready(is_ready, *next);
                std::swap(next, spare);
                is_ready = true;
            }
        }
        dependencies_.add_ready(is_ready, *next);
        if (!dependencies_.ready().empty()) [[unlikely]] {
            start_ready_ops(until, context);
        }
    }

    /// Starts the ops in the list: while no request is pending and there are at most two, the next one is among them.
    /// Then the others become requests.
    template <class Context>
    [[gnu::noinline]] void start_ready_ops(Time until, Context& context) {
        while (agenda_.idle() && dependencies_.ready().size() <= 2) {
            if (dependencies_.ready().empty()) {
                return;
            }
            const auto& ready = dependencies_.ready();
            const bool alone = ready.size() == 1;
            const std::size_t first = alone || !goes_first(ready[1], ready[0]) ? 0 : 1;
            const Moment at = start_of(ready[first]);
            if (time_of(at) >= until) {
                break;
            }
            auto& starting = dependencies_.swap_ready();
            start_op(starting[first], at, context);
            dependencies_.add_ready(!alone, starting[1 - first]);
            starting.clear();
        }
        request_ready_ops();
    }

    /// Starts an op. The ops that this makes ready are added to the list.
    template <class Context>
    [[gnu::always_inline]] void start_op(const Ready& ready, const Moment& now, Context& context) {
        if (ready.op.kind == goal::OpKind::recv) {
            Ready next;
            bool matched = false;
            dependencies_.add_ready(post(ready, now, next, matched), next);
            return;
        }
        record_start(ready, now);
        if (ready.op.kind == goal::OpKind::calc) {
            const Moment end = occupation_.compute(current_, ready, now);
            dependencies_.started(current_, ready, now);
            dependencies_.ended(current_, ready.op_index, ready.cookie, end);
        } else if (transmission_.is_eager(current_, ready.op.peer, ready.op.size)) {
            const Moment end = transmission_.send_eagerly(current_, ready, started_op(ready), now, context);
            dependencies_.started(current_, ready, now);
            dependencies_.ended(current_, ready.op_index, ready.cookie, end);
        } else {
            dependencies_.started(current_, ready, now);
            rendezvous_.request_to_send(current_, ready, started_op(ready), now, context);
        }
    }

    /// A receive is posted (R6, R9), and `matched` says whether it found a message. Returns whether this made an op
    /// ready that is now in `next`, which may be `ready`.
    [[gnu::always_inline]] bool post(const Ready& ready, const Moment& now, Ready& next, bool& matched) {
        record_start(ready, now);
        auto& match = current_.state().match;
        const auto receive = started_op(ready);
        const std::uint32_t unexpected = Observer::observes ? matching_.unexpected_messages(match) : 0;
        std::uint32_t message = 0;
        matched = matching_.post(match, receive, ready.op.peer, ready.op.tag, message);
        tables_.observer.posted(current_.number(), unexpected, matched);
        const bool is_ready = dependencies_.posted(current_, ready, now, next);
        if (matched) [[unlikely]] {
            message_matched(message, receive, now);
        }
        return is_ready;
    }

    [[nodiscard, gnu::always_inline]] static StartedOp<Cookie> started_op(const Ready& ready) {
        if constexpr (S::single_cpu_and_nic) {
            return {.op_index = ready.op_index, .cookie = ready.cookie};
        } else {
            return {.op_index = ready.op_index, .cookie = ready.cookie, .cpu = ready.op.cpu, .nic = ready.op.nic};
        }
    }

    [[gnu::always_inline]] void record_start(const Ready& ready, const Moment& now) {
        if constexpr (Observer::records) {
            const goal::Op& op = ready.op;
            tables_.observer.started(current_.number(), ready.op_index,
                                     {op.kind, op.peer, op.tag, op.size,
                                      tables_.source.call(current_.number(), current_.state().source, ready.cookie)},
                                     ready.at, now);
        }
    }

    // ---- arrived messages: eager ones without a posted receive, and requests to send (R10, R12)

    /// The op of a message, as far as it is known.
    [[nodiscard]] goal::OpIndex op_index_of_message(std::uint32_t handle) const {
        return matching_[handle].matched ? matching_[handle].receive.op_index : goal::unknown_op_index;
    }

    [[gnu::noinline]] void message_matched(std::uint32_t handle, const StartedOp<Cookie>& receive, const Moment& now) {
        auto& message = matching_[handle];
        message.receive = receive;
        message.matched = true;
        message.matched_at = now;
        if (message.processed) {
            message_complete(handle);
        }
    }

    void message_processed(std::uint32_t handle, const Moment& time) {
        auto& message = matching_[handle];
        message.processed_at = time;
        message.processed = true;
        if (message.matched) {
            message_complete(handle);
        }
    }

    /// The message is matched and processed.
    void message_complete(std::uint32_t handle) {
        const auto& message = matching_[handle];
        if (message.kind == MessageKind::request_to_send) {
            rendezvous_.request_clear_to_send(current_, handle, latest(message.matched_at, message.processed_at));
        } else {
            end_op(reception_.end_receive(current_, handle));
        }
    }

    Tables& tables_;
    CurrentRank<S, Moment> current_;
    Agenda<Cookie, Moment> agenda_;
    Matching<Cookie, Moment> matching_;
    Occupation<S, Observer> occupation_;
    Transmission<S, Observer> transmission_;
    Reception<S, Observer> reception_;
    Rendezvous<S, Observer> rendezvous_;
    Dependencies<S, Observer> dependencies_;
    std::array<Ready, 2> next_;  ///< the op that starts next, and room for the op that its end makes ready
};

}  // namespace idlewave::loggops
