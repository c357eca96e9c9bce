#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/message.hpp"
#include "loggops/rank.hpp"
#include "loggops/record.hpp"
#include "machine/machine.hpp"
#include "pdes/event.hpp"

namespace idlewave {

/// The LogGOPS rank (SEMANTICS.md) as a model of the kernel: an LP is a rank, an event the arrival of a message's
/// first byte. `Log` hears of every op that has run.
///
/// Here is what ops do; what a message does at both ends is in transmission.hpp, the rendezvous in rendezvous.hpp.
template <Source S, class Log>
class LogGops {
  public:
    using State = Rank<typename S::State>;
    using Payload = Message;

    LogGops(const S& source, const Machine& machine, const Noise& noise, Log& log)
        : source_(source), machine_(machine), noise_(noise), log_(log) {}

    [[nodiscard]] std::uint32_t lps() const { return source_.ranks(); }
    [[nodiscard]] Time lookahead() const { return machine_.lookahead(); }
    [[nodiscard]] std::uint64_t messages() const { return messages_; }

    template <class Context>
    void start(State& rank, Context& context) {
        rank.free.assign(source_.cpus() + 2 * source_.nics(), 0);
        source_.begin(context.self(), rank.source, ready_);
        take_ready(rank);
        plan(rank, context);
    }

    /// Matching happens here, at the arrival of the first byte; the reception itself waits for CPU and NIC.
    template <class Context>
    void handle(State& rank, const pdes::Event<Message>& event, Context& /*context*/) {
        if (event.payload.kind == MessageKind::wake) {
            rank.wake = rank.wake == event.time ? never : rank.wake;
            return;
        }
        arrive(rank, event);
    }

    /// Start the next request that can start at `now`.
    template <class Context>
    bool settle(State& rank, Time now, Context& context) {
        const Agenda::Next next = rank.agenda.next(clocks(rank));
        if (next.at > now) {
            plan_at(rank, next.at, context);
            return false;
        }
        const Request request = rank.agenda.take(next.queue);
        switch (request.work) {
            case Work::receive: receive(rank, request, now, context.self()); break;
            case Work::clear_to_send: send_clear_to_send(rank, request, now, context); break;
            case Work::rendezvous_data: send_rendezvous_data(rank, request, now, context); break;
            case Work::send: send(rank, request, now, context); break;
            case Work::post: post(rank, request, now, context.self()); break;
            case Work::calc: calc(rank, request, now, context.self()); break;
        }
        return true;
    }

    /// What rank `r` still waits for when nothing can happen any more.
    void unfinished(std::uint32_t r, const State& rank, std::vector<Waiting>& waiting) const;

  private:
    [[nodiscard]] Clocks clocks(State& rank) const {
        const std::span<Time> all(rank.free);
        const std::size_t cpus = source_.cpus();
        const std::size_t nics = source_.nics();
        return {all.first(cpus), all.subspan(cpus, nics), all.subspan(cpus + nics, nics)};
    }

    // ---- ops

    void take_ready(State& rank) {
        for (const ReadyOp& ready : ready_) {
            const Op& op = ready.op;
            Request request{.ready = ready.at, .count = ready.place, .place = ready.place, .cookie = ready.cookie,
                            .op = op};
            switch (op.kind) {
                case OpKind::send:
                    request.turn = Turn::send;
                    request.work = Work::send;
                    rank.agenda.add(request, Needs::cpu_and_tx, op.cpu, op.nic);
                    break;
                case OpKind::recv:
                    request.turn = Turn::post;
                    request.work = Work::post;
                    rank.agenda.add(request, Needs::nothing, 0, 0);
                    break;
                case OpKind::calc:
                    request.turn = Turn::calc;
                    request.work = Work::calc;
                    rank.agenda.add(request, Needs::cpu, op.cpu, 0);
                    break;
            }
        }
        ready_.clear();
    }

    void op_started(State& rank, std::uint32_t self, const Request& request, Time now) {
        source_.started(self, rank.source, {request.place, request.cookie, now}, ready_);
        take_ready(rank);
    }

    void op_ended(State& rank, std::uint32_t self, const OpRecord& record, std::uint32_t cookie) {
        rank.reach(record.end);
        log_.add(record);
        source_.ended(self, rank.source, {record.place, cookie, record.end}, ready_);
        take_ready(rank);
    }

    static OpRecord record_of(std::uint32_t self, const Request& request, Time start, Time end) {
        const Op& op = request.op;
        return {self, request.place, op.kind, op.peer, op.tag, op.size, request.ready, start, end};
    }

    void calc(State& rank, const Request& request, Time now, std::uint32_t self) {
        op_started(rank, self, request, now);
        const Time work = static_cast<Time>(request.op.size) * picoseconds_per_nanosecond;
        const Time end = noise_.finish(self, now, work);
        clocks(rank).cpu[request.op.cpu] = end;
        op_ended(rank, self, record_of(self, request, now, end), request.cookie);
    }

    template <class Context>
    void send(State& rank, const Request& request, Time now, Context& context) {
        const std::uint32_t self = context.self();
        const Op& op = request.op;
        op_started(rank, self, request, now);
        if (op.size > machine_.level(self, op.peer).S) {
            request_to_send(rank, request, now, context);
            return;
        }
        const Message message{.size = op.size, .tag = op.tag, .kind = MessageKind::data};
        const Time end = transmit(rank, op.peer, op.size, message, op.cpu, op.nic, now, context);
        op_ended(rank, self, record_of(self, request, now, end), request.cookie);
    }

    void post(State& rank, const Request& request, Time now, std::uint32_t self) {
        op_started(rank, self, request, now);
        const Receive receive{request.op, request.place, request.cookie, request.ready, now};
        const auto handle =
            rank.matching.take_unexpected(request.op, [&rank](std::uint32_t h) -> Arrived& { return rank.arrived[h]; });
        if (!handle) {
            rank.matching.post(receive);
            return;
        }
        Arrived& message = rank.arrived[*handle];
        message.receive = receive;
        message.matched = true;
        message.matched_at = now;
        if (message.processed_at != Arrived::not_yet) {
            meet(rank, *handle, self);
        }
    }

    // ---- messages at both ends: transmission.hpp

    template <class Context>
    Time transmit(State& rank, std::uint32_t peer, std::uint64_t size, const Message& message, std::uint8_t cpu,
                  std::uint8_t nic, Time now, Context& context);
    void arrive(State& rank, const pdes::Event<Message>& event);
    void receive(State& rank, const Request& request, Time now, std::uint32_t self);
    void meet(State& rank, std::uint32_t handle, std::uint32_t self);

    // ---- large messages: rendezvous.hpp

    template <class Context>
    void request_to_send(State& rank, const Request& request, Time now, Context& context);
    void plan_clear_to_send(State& rank, std::uint32_t handle, Time time);
    void cleared_to_send(State& rank, std::uint32_t handle);
    template <class Context>
    void send_clear_to_send(State& rank, const Request& request, Time now, Context& context);
    template <class Context>
    void send_rendezvous_data(State& rank, const Request& request, Time now, Context& context);

    // ---- when to look again

    template <class Context>
    void plan(State& rank, Context& context) {
        plan_at(rank, rank.agenda.next(clocks(rank)).at, context);
    }

    template <class Context>
    void plan_at(State& rank, Time at, Context& context) {
        if (at < rank.wake) {
            rank.wake = at;
            context.send(context.self(), at, Message{});
        }
    }

    const S& source_;
    const Machine& machine_;
    const Noise& noise_;
    Log& log_;
    std::vector<ReadyOp> ready_;  ///< scratch
    std::uint64_t messages_ = 0;
};

}  // namespace idlewave

#include "loggops/rendezvous.hpp"
#include "loggops/transmission.hpp"
#include "loggops/unfinished.hpp"
