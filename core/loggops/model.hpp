#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/message.hpp"
#include "loggops/occupy.hpp"
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

    LogGops(const S& source, const Machine& machine, std::uint64_t seed, Log& log)
        : source_(source),
          machine_(machine),
          seed_(seed),
          log_(log),
          layout_{static_cast<std::uint16_t>(source.cpus()), static_cast<std::uint16_t>(source.nics())} {}

    [[nodiscard]] std::uint32_t lps() const { return source_.ranks(); }
    [[nodiscard]] Time lookahead() const { return machine_.lookahead(); }
    [[nodiscard]] std::uint64_t messages() const { return messages_; }

    template <class Context>
    Time start(State& rank, Context& context) {
        rank.clocks.assign(layout_.size(), 0);
        rank.noise = machine_.noise.begin(seed_, context.self());
        source_.begin(context.self(), rank.source, ready_);
        take_ready(rank);
        return rank.agenda.next(rank.clocks.begin()).at;
    }

    /// Matching happens here, at the arrival of the first byte; the reception itself waits for CPU and NIC.
    template <class Context>
    void handle(State& rank, const pdes::Event<Message>& event, Context& /*context*/) {
        arrive(rank, event);
    }

    /// Start the next request that can start at `now`; returns when the next may.
    template <class Context>
    Time settle(State& rank, Time now, Context& context) {
        const Agenda::Next next = rank.agenda.next(rank.clocks.begin());
        if (next.at > now) {
            return next.at;
        }
        const Request request = rank.agenda.take(next.index);
        switch (request.work) {
            case Work::receive:
                receive(rank, request, now, context.self());
                break;
            case Work::clear_to_send:
                send_clear_to_send(rank, request, now, context);
                break;
            case Work::rendezvous_data:
                send_rendezvous_data(rank, request, now, context);
                break;
            case Work::send:
                send(rank, request, now, context);
                break;
            case Work::post:
                post(rank, request, now, context.self());
                break;
            case Work::calc:
                calc(rank, request, now, context.self());
                break;
        }
        return now;
    }

    /// What rank `r` still waits for when nothing can happen any more.
    void unfinished(std::uint32_t r, const State& rank, std::vector<Waiting>& waiting) const;

  private:
    /// When work `w`, begun at `t`, is done, if noise reaches it, and if not.
    Time finish(State& rank, Time t, Time w, bool reached) const {
        return reached ? machine_.noise.finish(rank.noise, t, w) : later(t, w);
    }

    // ---- ops

    void take_ready(State& rank) {
        for (const ReadyOp& ready : ready_) {
            const Op& op = ready.op;
            Request request{.ready = ready.at,
                            .count = ready.place,
                            .size = op.size,
                            .peer = op.peer,
                            .tag = op.tag,
                            .handle = ready.cookie,
                            .cpu = op.cpu,
                            .nic = op.nic};
            switch (op.kind) {
                case OpKind::send:
                    request.turn = Turn::send;
                    request.work = Work::send;
                    request.first_need = ClockLayout::cpu(op.cpu);
                    request.second_need = layout_.tx(op.nic);
                    break;
                case OpKind::recv:
                    request.turn = Turn::post;
                    request.work = Work::post;
                    break;
                case OpKind::calc:
                    request.turn = Turn::calc;
                    request.work = Work::calc;
                    request.first_need = ClockLayout::cpu(op.cpu);
                    break;
            }
            rank.agenda.add(request);
        }
        ready_.clear();
    }

    void op_started(State& rank, std::uint32_t self, const Request& request, Time now) {
        source_.started(self, rank.source, {request.place(), request.handle, now}, ready_);
        take_ready(rank);
    }

    void op_ended(State& rank, std::uint32_t self, const OpRecord& record, std::uint32_t cookie) {
        rank.reach(record.end);
        log_.add(record);
        source_.ended(self, rank.source, {record.place, cookie, record.end}, ready_);
        take_ready(rank);
    }

    static Op op_of(const Request& request, OpKind kind) {
        return {request.size, request.peer, request.tag, kind, request.cpu, request.nic};
    }

    static OpRecord record_of(std::uint32_t self, const Request& request, OpKind kind, Time start, Time end) {
        return {self, request.place(), kind, request.peer, request.tag, request.size, request.ready, start, end};
    }

    void calc(State& rank, const Request& request, Time now, std::uint32_t self) {
        op_started(rank, self, request, now);
        Time work = 0;
        if (__builtin_mul_overflow(request.size, picoseconds_per_nanosecond, &work)) {
            throw TimeOverflow();
        }
        const Time end = finish(rank, now, work, machine_.noise_reach.calc);
        rank.clocks[request.first_need] = end;
        op_ended(rank, self, record_of(self, request, OpKind::calc, now, end), request.handle);
    }

    template <class Context>
    void send(State& rank, const Request& request, Time now, Context& context) {
        const std::uint32_t self = context.self();
        op_started(rank, self, request, now);
        if (request.size > machine_.level(self, request.peer).S) {
            request_to_send(rank, request, now, context);
            return;
        }
        const Message message{.size = request.size, .tag = request.tag, .kind = MessageKind::data};
        const Time end = transmit(rank, request.peer, request.size, message, request, now, context);
        op_ended(rank, self, record_of(self, request, OpKind::send, now, end), request.handle);
    }

    void post(State& rank, const Request& request, Time now, std::uint32_t self) {
        op_started(rank, self, request, now);
        const Op op = op_of(request, OpKind::recv);
        const Receive receive{op, request.place(), request.handle, request.ready, now};
        const auto handle =
            rank.matching.take_unexpected(op, [&rank](std::uint32_t h) -> Arrived& { return rank.arrived[h]; });
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
    Time transmit(State& rank, std::uint32_t peer, std::uint64_t size, const Message& message, const Request& request,
                  Time now, Context& context);
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

    const S& source_;
    const Machine& machine_;
    std::uint64_t seed_;
    Log& log_;
    std::vector<ReadyOp> ready_;  ///< scratch
    ClockLayout layout_;
    std::uint64_t messages_ = 0;
};

}  // namespace idlewave

#include "loggops/rendezvous.hpp"
#include "loggops/transmission.hpp"
#include "loggops/unfinished.hpp"
