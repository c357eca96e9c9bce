#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/archive.hpp"
#include "base/error.hpp"
#include "base/time.hpp"
#include "pdes/event.hpp"
#include "pdes/event_queue.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/optimistic_context.hpp"

/// The `check` scheduler's test of a model: whether it undoes what it did, and does the same twice.
namespace idlewave::pdes {

/// Everything of an LP that an execution changes and a rollback restores, as bytes.
template <WindowModel M>
std::vector<std::byte> bytes_of(typename M::Worker& worker, const typename M::State& state, std::uint32_t number) {
    std::vector<std::byte> bytes;
    if constexpr (packs_state<M>) {
        Serialiser serialiser(bytes);
        worker.pack_state(state, number, serialiser);
    } else if constexpr (serialises<M>) {
        Serialiser serialiser(bytes);
        worker.pack(state, number, serialiser);
    } else {
        bytes.resize(sizeof state);
        std::memcpy(bytes.data(), &state, sizeof state);  // with the padding between fields
    }
    return bytes;
}

/// Executes `events` of the LP of `context`, undoes them and compares, and does so a second time; the LP is then as
/// before. `begins`: beginning of the events' cell. Throws LogicError if the model does not undo what it did, or does
/// not do the same twice.
template <WindowModel M>
[[gnu::noinline]] void check_execution(OptimisticContext<M> context, std::span<const Event<typename M::Payload>> events,
                                       Time begins) {
    typename M::Worker& worker = context.lps.worker();
    Lp<typename M::State>& lp = *context.record;
    const auto fail = [&](const std::string& what) {
        throw LogicError("LP " + std::to_string(context.lp) + ", from " + std::to_string(begins) + " " +
                         std::string(time_unit<M>) + " on: " + what);
    };
    const std::vector<std::byte> before = bytes_of<M>(worker, lp.state, context.lp);
    const std::uint32_t sequence = lp.sequence;
    std::vector<std::byte> after;
    std::vector<SentEvent> sent;
    context.logged = false;
    for (int trial = 0; trial < 2; ++trial) {
        std::vector<std::byte> undo_data;
        std::vector<SentEvent> sent_now;
        context.undo_data = &undo_data;
        context.trial = &sent_now;
        const std::uint64_t executed = worker.executed();
        worker.run(lp.state, events, context.until, context);
        worker.executed() = executed;
        if (trial == 0) {
            sent = sent_now;
            after = bytes_of<M>(worker, lp.state, context.lp);
        } else if (sent != sent_now || after != bytes_of<M>(worker, lp.state, context.lp)) {
            fail("handling the same events a second time leads to something else");
        }
        if constexpr (writes_undo<M>) {
            worker.undo(lp.state, undo_data, context.lp);
        } else if constexpr (std::is_trivially_copyable_v<typename M::State>) {
            std::memcpy(&lp.state, before.data(), sizeof lp.state);
        } else {
            fail("its state cannot be copied byte by byte, and the model does not undo it");
        }
        lp.sequence = sequence;
        if (before != bytes_of<M>(worker, lp.state, context.lp)) {
            fail("undoing its events does not lead back to the state before them");
        }
    }
}

/// The same with the queued events of a cell, as a scheduler has them. The LP's timer stays as it is.
template <WindowModel M>
[[gnu::noinline]] void check_lp(const OptimisticContext<M>& context, std::span<const QueuedEvent> events, Time begins) {
    EventQueue<M>& queue = context.lps.queue();
    Lp<typename M::State>& lp = *context.record;
    const std::uint32_t timer = lp.timer;
    check_execution<M>(context, queue.delivery().deliver_all(lp, events, begins, context.until, queue.grid()), begins);
    lp.timer = timer;
}

}  // namespace idlewave::pdes
