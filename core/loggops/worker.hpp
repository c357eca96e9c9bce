#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/archive.hpp"
#include "base/time.hpp"
#include "goal/op.hpp"
#include "goal/source.hpp"
#include "loggops/dispatcher.hpp"
#include "loggops/message.hpp"
#include "loggops/program_order.hpp"
#include "loggops/rank.hpp"
#include "loggops/rank_parts.hpp"
#include "loggops/serialisation.hpp"
#include "loggops/tables.hpp"
#include "pdes/event.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave::loggops {

/// Simulates the ranks of a thread, one at a time: what the kernel calls, and the results. A Dispatcher decides what
/// the rank does next, and the parts do it: each has its own data, a narrow interface, and its own test.
template <goal::Source S, class Observer>
class RankWorker {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Observer::Moment;
    using Payload = typename Observer::Payload;
    using State = Rank<S, Moment>;
    using Event = pdes::Event<Payload>;

    explicit RankWorker(Tables& tables) : dispatcher_(tables) {}

    // The functions that the kernel calls (pdes::WindowModel): each returns the time at which the rank goes on by
    // itself.

    template <class Context>
    Time start(State& rank, Time until, Context& context) {
        enter(rank, context.self());
        return leave(dispatcher_.start(until, context));
    }

    // Always inline: it has two callers, and the compiler would otherwise call it for each rank with several events.
    template <class Context>
    [[gnu::always_inline]] Time run(State& rank, std::span<const Event> events, Time until, Context& context) {
        write_undo_log(rank, context);
        enter(rank, context.self());
        return leave(dispatcher_.run(events, until, context));
    }

    /// The usual case: one event.
    template <class Context>
    [[gnu::always_inline]] Time run_one(State& rank, const Event& event, Time until, Context& context) {
        write_undo_log(rank, context);
        enter(rank, context.self());
        return leave(dispatcher_.run_one(event, until, context));
    }

    template <class Context>
    Time step(State& rank, std::span<const Event> events, Time now, Context& context) {
        enter(rank, context.self());
        return leave(dispatcher_.step(events, now, context));
    }

    /// While no rank has pending requests or arrived messages, its own memory is all that it needs. Where there are
    /// many arrived messages for each overflow, it does not pay to look at each rank for one.
    [[nodiscard]] std::size_t fetch_steps() const {
        constexpr bool source_has_memory =
            requires(const Rank<S, Moment>& rank) { parts().tables.source.prefetch_further(0U, rank.source); };
        constexpr std::size_t most_messages_for_each = 8;
        const std::size_t messages = parts().matching.arrived_messages();
        if (source_has_memory || parts().agenda.any_queued() ||
            most_messages_for_each * parts().matching.overflows() > messages) {
            return 4;
        }
        return parts().agenda.any_pending() || messages > 0 ? 2 : 1;
    }
    [[gnu::always_inline]] void prefetch_lp(std::uint32_t r) const {
        parts().occupation.prefetch(r);
        if constexpr (requires { parts().tables.source.prefetch(r); }) {
            parts().tables.source.prefetch(r);
        }
    }
    [[gnu::always_inline]] void prefetch_state(const State& rank, std::uint32_t r) const {
        if constexpr (requires { parts().tables.source.prefetch(r, rank.source); }) {
            parts().tables.source.prefetch(r, rank.source);
        }
        // Where ranks execute their ops in program order, few have requests; else it cannot be predicted which do.
        if (!ProgramOrder<S, Observer>::is_possible || !rank.requests.none()) {
            parts().agenda.prefetch(rank.requests);
        }
        parts().matching.prefetch(rank.match);
    }
    [[gnu::always_inline]] void prefetch_for(const State& rank, const pdes::Upcoming<Payload>& next) const {
        if (!has_queues(rank)) {
            return;
        }
        parts().agenda.prefetch_requests(rank.requests);
        // Also where a message arrives: the receive that it ends may let another one start, which searches them.
        parts().matching.prefetch_unexpected(rank.match);
        if (!next.is_timer) {
            parts().matching.prefetch_posted(rank.match, next.source, next.payload->tag);
        }
    }
    [[gnu::always_inline]] void prefetch_further(const State& rank, std::uint32_t r,
                                                 const pdes::Upcoming<Payload>& next) const {
        if constexpr (requires { parts().tables.source.prefetch_further(r, rank.source); }) {
            parts().tables.source.prefetch_further(r, rank.source);
        }
        if (!has_queues(rank)) {
            return;
        }
        parts().matching.prefetch_unexpected_message(rank.match);
        if (!next.is_timer) {
            parts().matching.prefetch_match(rank.match, next.source, next.payload->tag);
        }
    }

    // ---- serialised ranks, for rollback, migration and checkpoints

    void pack(const State& rank, std::uint32_t r, Serialiser& serialiser) {
        rank_serialiser().pack(rank, r, serialiser);
        if constexpr (Observer::records) {
            parts().tables.observer.pack(r, serialiser);
        }
    }
    void unpack(State& rank, std::uint32_t r, Deserialiser& deserialiser) {
        rank_serialiser().unpack(rank, r, deserialiser);
        if constexpr (Observer::records) {
            parts().tables.observer.unpack(r, deserialiser);
        }
    }
    /// Writes what `undo` reads: the rows that a rank has recorded stay here.
    void pack_state(const State& rank, std::uint32_t r, Serialiser& serialiser) {
        rank_serialiser().pack(rank, r, serialiser);
        if constexpr (Observer::records) {
            parts().tables.observer.save(r, serialiser);
        }
    }
    /// Rolls a rank back to the state that `undo_data` holds.
    void undo(State& rank, std::span<const std::byte> undo_data, std::uint32_t r) {
        rank_serialiser().discard(rank, r);
        Deserialiser deserialiser(undo_data);
        rank_serialiser().unpack(rank, r, deserialiser);
        if constexpr (Observer::records) {
            parts().tables.observer.roll_back(r, deserialiser);
        }
    }

    /// Ranks and events that an optimistic scheduler handles conservatively. A rank with long queues takes longer to
    /// serialise than to simulate. Of an open rendezvous the other side knows a handle, which a rollback changes; and a
    /// message of a rendezvous refers to a record at its receiver, so it must not be handled too early. So are the
    /// messages of one-sided operations, and ranks that have awaits, notifications or locks: these concern other ranks.
    [[nodiscard]] bool is_conservative(const State& rank, std::uint32_t r) const {
        return parts().matching.has_overflow(rank.match) || rank.requests.many() || parts().rendezvous.is_open(r) ||
               parts().one_sided.is_open(r);
    }
    [[nodiscard]] static bool is_conservative(const Payload& message) { return message.kind != MessageKind::data; }

    /// Gives a message from another process its class in this process. A message with data of an observer travels
    /// without a code.
    [[nodiscard]] std::uint16_t assign_code(Payload& message) {
        const std::uint16_t code = parts().transmission.classify(message);
        return Observer::observes ? Message::no_class : code;
    }

    // ---- results

    /// The messages that were sent; the kernel subtracts those that it rolls back.
    [[nodiscard]] std::uint64_t& executed() { return parts().occupation.messages(); }
    [[nodiscard]] std::uint64_t messages() const { return parts().occupation.messages(); }

    /// Adds everything that is unfinished in rank `r`, except its sends (docs/model.md, R20).
    void collect_unfinished(std::uint32_t r, const State& rank, standstill::Unfinished& unfinished) const {
        parts().matching.each_posted(rank.match, [&](std::uint32_t source, std::uint32_t tag, const auto& receive) {
            unfinished.add(standstill::PendingOp{
                .rank = r, .op_index = receive.op_index, .peer = source, .tag = tag, .kind = goal::OpKind::recv});
        });
        std::uint32_t number = 0;
        parts().matching.each_unexpected(rank.match, [&](std::uint32_t handle) {
            const auto& message = parts().matching[handle];
            if (message.kind == MessageKind::data) {
                unfinished.add(standstill::UnexpectedMessage{.size = message.size,
                                                             .receiver = r,
                                                             .number = number++,
                                                             .sender = message.source,
                                                             .tag = message.tag});
            }
        });
        parts().one_sided.collect_unfinished(r, unfinished);
        if (const auto position = parts().tables.source.stop_position(r, rank.source)) {
            unfinished.add(standstill::UnfinishedRank{r, *position});
        }
    }

    /// Adds the unfinished sends of all ranks of the thread.
    void collect_unfinished_sends(standstill::Unfinished& unfinished) const {
        parts().rendezvous.collect_unfinished_sends(unfinished);
    }

  private:
    /// Whether the rank has several pending requests or an overflow. This branch can be predicted; whether a rank has
    /// one request cannot, and to fetch it in vain costs less than such a branch.
    [[nodiscard, gnu::always_inline]] bool has_queues(const State& rank) const {
        const bool several_requests = rank.requests.several();
        const bool has_overflow = parts().matching.has_overflow(rank.match);
        return several_requests | has_overflow;
    }

    // ---- one rank at a time

    [[gnu::always_inline]] void enter(State& rank, std::uint32_t number) {
        parts().current.enter(rank, number,
                              S::single_cpu_and_nic ? nullptr : parts().tables.free_times_of(number, rank));
        parts().agenda.open(rank.requests);
    }

    /// `next` is the time at which the rank goes on by itself.
    [[gnu::always_inline]] Time leave(Time next) {
        State& rank = parts().current.state();
        rank.requests = parts().agenda.close();
        parts().matching.leave(rank.match);
        return next;
    }

    RankSerialiser<S, Observer> rank_serialiser() { return RankSerialiser<S, Observer>(parts()); }

    template <class Context>
    void write_undo_log(State& rank, Context& context) {
        if constexpr (requires { context.undo_data->size(); }) {
            if (context.undo_data != nullptr) [[unlikely]] {
                Serialiser serialiser(*context.undo_data);
                pack_state(rank, context.self(), serialiser);
            }
        }
    }

    [[nodiscard]] RankParts<S, Observer>& parts() { return dispatcher_.parts(); }
    [[nodiscard]] const RankParts<S, Observer>& parts() const { return dispatcher_.parts(); }

    Dispatcher<S, Observer> dispatcher_;
};

}  // namespace idlewave::loggops
