#pragma once

#include <cstdint>

#include "goal/op.hpp"
#include "goal/source.hpp"
#include "loggops/message.hpp"
#include "loggops/rank_parts.hpp"
#include "loggops/started_op.hpp"

namespace idlewave::loggops {

/// The execution of the ops of a rank (docs/model.md, R4 to R7, R9, R10): an op starts, and the ops that its start or
/// end makes ready are left in the list of Dependencies. It owns the parts that do it.
template <goal::Source S, class Observer>
class OpExecution {
  public:
    using Parts = RankParts<S, Observer>;
    using Moment = typename Parts::Moment;
    using Cookie = typename Parts::Cookie;
    using Ready = goal::ReadyOp<Cookie, Moment>;
    using Ended = EndedOp<Cookie, Moment>;

    explicit OpExecution(typename Parts::Tables& tables) : parts_(tables) {}

    [[nodiscard]] Parts& parts() { return parts_; }
    [[nodiscard]] const Parts& parts() const { return parts_; }

    /// The first time at which an op can start.
    [[nodiscard, gnu::always_inline]] Moment start_of(const Ready& ready) const {
        switch (ready.op.kind) {
            case goal::OpKind::recv:
                if (!parts_.transmission.posts_take_cpu()) [[likely]] {
                    return ready.at;
                }
                break;
            case goal::OpKind::await:
                return ready.at;
            case goal::OpKind::send:
                return parts_.occupation.start_of_send(parts_.current, ready.at, ready.op.cpu, ready.op.nic);
            default:
                break;
        }
        return parts_.occupation.start_of_calc(parts_.current, ready.at, ready.op.cpu);
    }

    /// Starts an op. The ops that this makes ready are added to the list.
    template <class Context>
    [[gnu::always_inline]] void start(const Ready& ready, const Moment& now, Context& context) {
        if (ready.op.kind == goal::OpKind::recv) {
            Ready next;
            Post outcome;
            parts_.dependencies.add_ready(post(ready, now, next, outcome), next);
            if (outcome.has_ended) {
                end(outcome.ended);
            }
            return;
        }
        record_start(ready, now);
        if constexpr (MayHaveOneSided<S>) {
            if (goal::is_one_sided(ready.op.kind)) {
                start_one_sided(ready, now);
                return;
            }
        }
        if (ready.op.kind == goal::OpKind::calc) {
            const Moment end = parts_.occupation.compute(parts_.current, ready, now);
            parts_.dependencies.started(parts_.current, ready, now);
            parts_.dependencies.ended(parts_.current, ended_at(ready, end));
        } else if (parts_.transmission.is_eager(parts_.current, ready.op)) {
            const Moment end = parts_.transmission.send_eagerly(parts_.current, ready, started_op(ready), now, context);
            parts_.dependencies.started(parts_.current, ready, now);
            parts_.dependencies.ended(parts_.current, ended_at(ready, end));
        } else {
            parts_.dependencies.started(parts_.current, ready, now);
            parts_.rendezvous.request_to_send(parts_.current, ready, started_op(ready), now, context);
        }
    }

    /// What became of a receive that was posted.
    struct Post {
        bool matched = false;    ///< it found a message
        bool has_ended = false;  ///< … which was received already (Matching::is_received); the end is to be reported
        Ended ended;
    };

    /// A receive is posted (R6, R9). Returns whether its start made an op ready that is now in `next`, which may be
    /// `ready`.
    [[gnu::always_inline]] bool post(const Ready& ready, const Moment& now, Ready& next, Post& outcome) {
        record_start(ready, now);
        auto& match = parts_.current.state().match;
        const auto receive = started_op(ready);
        Moment posted = now;
        if (parts_.transmission.posts_take_cpu()) [[unlikely]] {
            posted = parts_.transmission.post(parts_.current, receive, ready.op, now);
        }
        const std::uint32_t unexpected = Observer::observes ? parts_.matching.unexpected_messages(match) : 0;
        std::uint32_t message = 0;
        outcome.matched = parts_.matching.post(match, receive, ready.op.peer, ready.op.tag, message);
        parts_.tables.observer.posted(parts_.current.number(), unexpected, outcome.matched);
        const bool is_ready = parts_.dependencies.posted(parts_.current, ready, now, next);
        if (outcome.matched) [[unlikely]] {
            outcome.has_ended = parts_.matching.is_received(message);
            if (outcome.has_ended) {
                outcome.ended = parts_.reception().end_receive(parts_.current, message, receive, posted);
            } else {
                store_match(message, receive, posted);
            }
        }
        return is_ready;
    }

    /// What the parts need to know of an op that starts.
    [[nodiscard, gnu::always_inline]] static StartedOp<Cookie> started_op(const Ready& ready) {
        if constexpr (S::single_cpu_and_nic) {
            return {
                .op_index = ready.op_index, .cookie = ready.cookie, .end_has_successors = ready.op.end_has_successors};
        } else {
            return {.op_index = ready.op_index,
                    .cookie = ready.cookie,
                    .cpu = ready.op.cpu,
                    .nic = ready.op.nic,
                    .end_has_successors = ready.op.end_has_successors};
        }
    }

    /// Reports the start to an observer that records.
    [[gnu::always_inline]] void record_start(const Ready& ready, const Moment& now) {
        if constexpr (Observer::records) {
            const goal::Op& op = ready.op;
            parts_.tables.observer.started(
                parts_.current.number(), ready.op_index,
                {op.kind, op.peer, op.tag, goal::bytes_of(op.size),
                 parts_.tables.source.call(parts_.current.number(), parts_.current.state().source, ready.cookie)},
                ready.at, now);
        }
    }

    /// An op ends.
    void end(const Ended& ended) { parts_.dependencies.ended(parts_.current, ended); }
    [[nodiscard, gnu::always_inline]] static Ended ended_at(const Ready& ready, const Moment& end) {
        return {.op_index = ready.op_index,
                .cookie = ready.cookie,
                .has_successors = ready.op.end_has_successors,
                .at = end};
    }

    // ---- arrived messages: eager ones without a posted receive, and requests to send (R10, R12)

    /// The op of a message, as far as it is known.
    [[nodiscard]] goal::OpIndex op_index_of_message(std::uint32_t handle) const {
        return parts_.matching[handle].matched ? parts_.matching[handle].receive.op_index : goal::unknown_op_index;
    }

    /// The CPU and NIC are done with the message.
    void message_processed(std::uint32_t handle, const Moment& time) {
        auto& message = parts_.matching[handle];
        message.processed_at = time;
        message.processed = true;
        if (!message.matched) {
            return;
        }
        if (parts_.matching.is_received(handle)) {
            end(parts_.reception().end_receive(parts_.current, handle, message.receive, message.matched_at));
        } else {
            answer_request_to_send(handle);
        }
    }

    /// A receive that is posted matched a message at `matched_at`: that is stored in the message until it is received.
    /// A request to send that is processed is answered.
    [[gnu::noinline]] void store_match(std::uint32_t handle, StartedOp<Cookie> receive,
                                       Moment matched_at) {  // NOLINT(performance-unnecessary-value-param)
        auto& message = parts_.matching[handle];
        message.receive = receive;
        message.matched = true;
        message.matched_at = matched_at;
        if (message.processed) {
            answer_request_to_send(handle);
        }
    }

  private:
    /// A one-sided op starts (R23 to R26). What requires its start is ready when the NIC has it. It ends when its
    /// answer or its notification has come.
    [[gnu::noinline]] void start_one_sided(const Ready& ready, const Moment& now) {
        if (ready.op.kind != goal::OpKind::await) {
            parts_.dependencies.started(parts_.current, ready, parts_.one_sided.initiate(parts_.current, ready, now));
            return;
        }
        parts_.dependencies.started(parts_.current, ready, now);
        Ended ended;
        if (parts_.one_sided.await(parts_.current, ready, now, ended)) {
            end(ended);
        }
    }

    /// A request to send is matched and processed.
    void answer_request_to_send(std::uint32_t handle) {
        const auto& message = parts_.matching[handle];
        parts_.rendezvous.request_clear_to_send(parts_.current, handle,
                                                latest(message.matched_at, message.processed_at));
    }

    Parts parts_;
};

}  // namespace idlewave::loggops
