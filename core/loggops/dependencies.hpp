#pragma once

#include <array>
#include <cstdint>

#include "goal/op.hpp"
#include "goal/source.hpp"
#include "loggops/rank.hpp"
#include "loggops/started_op.hpp"
#include "loggops/tables.hpp"

namespace idlewave::loggops {

/// Dependency resolution (docs/model.md, R4): reports the start and the end of ops to the source of the schedule, and
/// keeps the ops that this makes ready. The source returns one such op apart, in `next`: most ops make exactly one
/// other op ready, which then needs no list.
template <goal::Source S, class Observer>
class Dependencies {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Tables::Moment;
    using Cookie = typename S::Cookie;
    using Current = CurrentRank<S, Moment>;
    using Ready = goal::ReadyOp<Cookie, Moment>;
    using List = goal::ReadyOps<Cookie, Moment>;
    using Ended = EndedOp<Cookie, Moment>;

    explicit Dependencies(Tables& tables) : tables_(tables) {}

    /// A rank begins: the source hands out ops without requirements.
    void begin(const Current& current) {
        tables_.source.begin(current.number(), current.state().source, scratch_, *ready_);
    }

    /// An op has started. Returns whether this made an op ready that is now in `next`, which may be `op`.
    [[gnu::always_inline]] bool started(const Current& current, const Ready& op, const Moment& now, Ready& next) {
        return op.op.start_has_successors && started(current, op.op_index, op.cookie, now, next);
    }
    [[gnu::always_inline]] bool started(const Current& current, goal::OpIndex op_index, Cookie cookie,
                                        const Moment& now, Ready& next) {
        return tables_.source.started(current.number(), current.state().source, scratch_, {now, op_index, cookie}, next,
                                      *ready_);
    }

    /// Whether a receive brings a send along (ExchangeSend).
    [[nodiscard]] static bool brings_send(const Ready& receive) {
        if constexpr (S::has_exchanges) {
            return receive.exchange.send_to != goal::no_rank;
        } else {
            return false;
        }
    }

    /// A receive has started. It may bring a send along (ExchangeSend), which then is in `next`. `next` may be
    /// `receive`.
    [[gnu::always_inline]] bool posted(const Current& current, const Ready& receive, const Moment& now, Ready& next) {
        if constexpr (S::has_exchanges) {
            if (brings_send(receive)) {
                next.at = now;
                next.op.size = receive.op.size;
                next.op.peer = receive.exchange.send_to;
                next.op.tag = receive.op.tag;
                next.op.kind = goal::OpKind::send;
                next.op.cpu = receive.op.cpu;
                next.op.nic = receive.op.nic;
                next.op.reduction = false;
                next.op.start_has_successors = true;  // not known here: the source decides
                next.op.end_has_successors = true;
                next.op_index = receive.op_index + 1;
                next.cookie = receive.cookie;
                next.exchange.send_to = goal::no_rank;
                return true;
            }
        }
        return started(current, receive, now, next);
    }

    /// An op has ended. Returns whether this made an op ready that is now in `next`.
    [[gnu::always_inline]] bool ended(const Current& current, const Ended& ended, Ready& next) {
        tables_.observer.ended(current.number(), ended.op_index, ended.at);
        return ended.has_successors && tables_.source.ended(current.number(), current.state().source, scratch_,
                                                            {ended.at, ended.op_index, ended.cookie}, next, *ready_);
    }

    /// The same, with all ops that become ready in the list.
    void started(const Current& current, const Ready& op, const Moment& now) {
        if (op.op.start_has_successors) {
            Ready next;
            add_ready(started(current, op, now, next), next);
        }
    }
    void ended(const Current& current, const Ended& op) {
        Ready next;
        add_ready(ended(current, op, next), next);
    }

    /// Adds `next` to the list if it is ready.
    [[gnu::always_inline]] void add_ready(bool is_ready, const Ready& next) {
        if (is_ready) {
            ready_->push_back(next);
        }
    }

    /// The ops that have become ready.
    [[nodiscard, gnu::always_inline]] List& ready() { return *ready_; }

    /// Returns the list, and begins another one: an op of the old list starts where it lies, and the ops that this
    /// makes ready go into the new one. A copy of the op would stall on store forwarding.
    List& swap_ready() {
        List& old = *ready_;
        ready_ = &lists_[ready_ == &lists_[0] ? 1 : 0];
        return old;
    }

    /// Shows a rank's position in its schedule to an archive (base/archive.hpp).
    template <class Archive>
    void serialise(std::uint32_t rank, typename Tables::State& state, Archive& archive) const {
        if constexpr (requires { tables_.source.serialise(rank, state.source, archive); }) {
            tables_.source.serialise(rank, state.source, archive);
        } else {
            archive(state.source);
        }
    }

  private:
    Tables& tables_;
    typename S::Scratch scratch_{};
    std::array<List, 2> lists_;
    List* ready_ = &lists_[0];
};

}  // namespace idlewave::loggops
