#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/op_execution.hpp"
#include "loggops/rank.hpp"
#include "loggops/rank_parts.hpp"
#include "loggops/started_op.hpp"

namespace idlewave::loggops {

/// The ops that a rank executes one after the other, in program order, while it has no pending request: computation,
/// eager sends and receives, up to a wait whose ops have not ended. None of them is handed out, nor written to memory
/// before it starts.
///
/// Where a message that arrives later may come first, the rank pauses: it goes on once one has arrived, or at the time
/// `goes_on_at`.
template <goal::Source S, class Observer>
class ProgramOrder {
  public:
    using Ops = OpExecution<S, Observer>;
    using Parts = RankParts<S, Observer>;
    using Moment = typename Parts::Moment;
    using Cookie = typename Parts::Cookie;
    using Ready = goal::ReadyOp<Cookie, Moment>;
    using Ended = EndedOp<Cookie, Moment>;

    /// Recordings get a report of every op, and derivatives need the starts of all.
    static constexpr bool is_possible = goal::ProgramOrderSource<S> && !Observer::observes;

    /// Where receives take the CPU (o_p), they wait for it, and all ops are handed out.
    explicit ProgramOrder(Ops& ops)
        : ops_(ops), is_used_(parts().decisions.looks_ahead() && !parts().transmission.posts_take_cpu()) {}

    /// Whether the op of a cookie is one of these.
    [[nodiscard, gnu::always_inline]] bool is_in_order(Cookie cookie) const {
        return is_used_ && S::is_in_order(cookie);
    }
    [[nodiscard, gnu::always_inline]] bool is_paused() const {
        if constexpr (is_possible) {
            return S::is_paused(parts().current.state().source);
        }
        return false;
    }
    /// When the rank that has paused last goes on, unless a message arrives before.
    [[nodiscard]] Time goes_on_at() const { return goes_on_at_; }

    /// One of these ops has ended. The rank goes on, if it waited for this, up to where an arrival at `until` or later
    /// may come first. There it pauses, if it `may_pause`. Otherwise its next op is handed out and becomes a request:
    /// the arrival is at hand, and is handled among the requests. Returns whether an op is ready that is now in `next`.
    /// No request is pending, and no other op is ready.
    template <class Context>
    [[gnu::always_inline]] bool ended(const Ended& op, Time until, bool may_pause, Ready& next, Context& context) {
        return S::end_in_order(source_state(), op.cookie, op.at) && go_on_out_of_line(until, may_pause, next, context);
    }

    /// The rank goes on, with the same arguments and result.
    template <class Context>
    [[gnu::always_inline]] bool go_on(Time until, bool may_pause, Ready& next, Context& context) {
        auto& state = source_state();
        const auto& source = parts().tables.source;
        const auto& program = source.program_of(state);
        Execution<Context> execution{.ops = ops_,
                                     .context = context,
                                     .current = parts().current,
                                     .at = S::ready_at(state),
                                     .until = until,
                                     .may_pause = may_pause};
        goal::ProgramStep step = goal::ProgramStep::goes_on;
        while (step == goal::ProgramStep::goes_on) {
            step = source.execute_next(state, program, execution);
        }
        goes_on_at_ = execution.goes_on_at;
        return step == goal::ProgramStep::other && hand_out(next);
    }

    /// go_on for the ends of ops, compiled once. Only where a rank goes on after a pause, as most do, is it inline.
    template <class Context>
    [[gnu::noinline]] bool go_on_out_of_line(Time until, bool may_pause, Ready& next, Context& context) {
        return go_on(until, may_pause, next, context);
    }

    /// What the rank does next is handed out, whether it has paused or not. Returns whether it is in `next`; otherwise
    /// it is in the list of Dependencies.
    [[gnu::noinline]] bool hand_out(Ready& next) {
        const bool is_ready = parts().tables.source.hand_out(source_state(), next, parts().dependencies.ready());
        if (parts().agenda.idle()) {
            return is_ready;
        }
        parts().dependencies.add_ready(is_ready, next);  // the request of a rendezvous is pending
        return false;
    }

  private:
    using Step = goal::ProgramStep;
    using Message = goal::ProgramMessage<Cookie>;

    /// Executes ops of the current rank, each if it is decided that it starts (Decisions). What all of them need is
    /// gathered here, so that it can stay in registers.
    template <class Context>
    struct Execution {
        Ops& ops;
        Context& context;
        const CurrentRank<S, Moment>& current;
        Moment& at;  ///< when the next op is ready
        Time until;
        bool may_pause;
        Time goes_on_at = never;

        template <class Begin>
        [[gnu::always_inline]] Step compute(std::uint64_t ns, Begin begin) {
            const Moment start = parts().occupation.start_of_calc(current, at, 0);
            if (!is_decided(start)) {
                return pause(after(start, ns));
            }
            Ready op;
            op.op.size = ns;
            op.op_index = begin();
            at = parts().occupation.compute(current, op, start);
            return Step::goes_on;
        }

        template <class Begin>
        [[gnu::always_inline]] Step send(const Message& message, Begin begin) {
            Ready op;
            op.op.size = message.size;
            op.op.peer = message.peer;
            op.op.tag = message.tag;
            if (!parts().transmission.is_eager(current, op.op)) [[unlikely]] {
                return Step::other;
            }
            const Moment start = parts().occupation.start_of_send(current, at, 0, 0);
            if (!is_decided(start)) {
                return pause(start);
            }
            const StartedOp<Cookie> started{.op_index = begin(), .cookie = message.cookie};
            const Moment end = parts().transmission.send_eagerly(current, op, started, start, context);
            if (message.blocking) {
                at = end;
            } else {
                at = start;
                S::end_in_order(source_state(), message.cookie, end);
            }
            return Step::goes_on;
        }

        template <class Begin>
        [[gnu::always_inline]] Step receive(const Message& message, Begin begin) {
            if (!is_decided(at)) {
                return pause(at);
            }
            const StartedOp<Cookie> receive{.op_index = begin(), .cookie = message.cookie};
            std::uint32_t found = 0;
            if (!parts().matching.post(current.state().match, receive, message.peer, message.tag, found)) {
                return message.blocking ? await(receive) : Step::goes_on;
            }
            if (!parts().matching.is_received(found)) [[unlikely]] {
                ops.store_match(found, receive, at);  // of a request to send, whose answer is a request now
                return message.blocking ? await(receive) : Step::other;
            }
            const Moment end = parts().reception().end_receive(current, found, receive, at).at;
            if (message.blocking) {
                at = end;
            } else {
                S::end_in_order(source_state(), message.cookie, end);
            }
            return Step::goes_on;
        }

      private:
        [[gnu::always_inline]] Step await(const StartedOp<Cookie>& receive) const {
            S::await_end(source_state(), receive.op_index);
            return Step::waits;
        }

        /// The rank pauses. Until `goes_on` it does nothing that another rank sees, unless a message arrives.
        [[gnu::always_inline]] Step pause(Time goes_on) {
            if (!may_pause) {
                return Step::other;
            }
            S::pause(source_state());
            goes_on_at = goes_on;
            return Step::paused;
        }

        /// Ops are executed in program order only where decisions look ahead (is_used_).
        [[nodiscard, gnu::always_inline]] bool is_decided(Time start) const {
            return parts().decisions.is_decided_ahead(current, start, at, until);
        }

        /// The end of a computation that begins at `start` without noise, which makes it only longer; `start` itself if
        /// the end is no time before `never`: that is an error once it starts.
        [[nodiscard]] static Time after(Time start, std::uint64_t ns) {
            Time work = 0;
            return from_nanoseconds(ns, work) && work < never - start ? start + work : start;
        }

        [[nodiscard]] auto& source_state() const { return current.state().source; }
        [[nodiscard]] Parts& parts() const { return ops.parts(); }
    };

    [[nodiscard]] auto& source_state() const { return parts().current.state().source; }
    [[nodiscard]] Parts& parts() const { return ops_.parts(); }

    Ops& ops_;
    bool is_used_;
    Time goes_on_at_ = never;
};

}  // namespace idlewave::loggops
