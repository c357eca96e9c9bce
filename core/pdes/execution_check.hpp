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
#include "pdes/calendar_queue.hpp"
#include "pdes/delivery.hpp"
#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"

/// The `check` scheduler's test of a model: whether it undoes what it did, and does the same twice.
namespace idlewave::pdes {

/// The context of a trial execution: it keeps what the LP sends, and sends nothing.
template <WindowModel M>
struct TrialContext {
    std::uint32_t lp = 0;
    Lp<typename M::State>& record;
    std::vector<std::byte>* undo_data = nullptr;
    std::vector<SentEvent> events = {};

    [[nodiscard]] std::uint32_t self() const { return lp; }
    [[nodiscard]] std::uint32_t sent() const { return record.sequence; }
    void send(std::uint32_t destination, Time time, std::uint16_t code) {
        events.push_back({time, destination, code});
        ++record.sequence;
    }
    template <class... Arguments>
    void send(std::uint32_t destination, Time time, const Arguments&... arguments) {
        static_cast<void>(typename M::Payload(arguments...));
        send(destination, time, QueuedEvent::pooled);
    }
    void emit(const typename EmittedOf<M>::Type& /*emitted*/) {}
};

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

/// Executes `events` of the LP `number`, undoes them and compares, and does so a second time; the LP is then as before.
/// `begins`: beginning of the events' cell; `until`: its end. Throws LogicError if the model does not undo what it did,
/// or does not do the same twice.
template <WindowModel M>
[[gnu::noinline]] void check_execution(typename M::Worker& worker, Lp<typename M::State>& lp, std::uint32_t number,
                                       std::span<const Event<typename M::Payload>> events, Time begins, Time until) {
    const auto fail = [&](const std::string& what) {
        throw LogicError("LP " + std::to_string(number) + ", from " + std::to_string(begins) + " " +
                         std::string(time_unit<M>) + " on: " + what);
    };
    const std::vector<std::byte> before = bytes_of<M>(worker, lp.state, number);
    const std::uint32_t sequence = lp.sequence;
    std::vector<std::byte> after;
    std::vector<SentEvent> sent;
    for (int trial = 0; trial < 2; ++trial) {
        std::vector<std::byte> undo_data;
        TrialContext<M> context{.lp = number, .record = lp, .undo_data = &undo_data};
        const std::uint64_t executed = worker.executed();
        worker.run(lp.state, events, until, context);
        worker.executed() = executed;
        if (trial == 0) {
            sent = context.events;
            after = bytes_of<M>(worker, lp.state, number);
        } else if (sent != context.events || after != bytes_of<M>(worker, lp.state, number)) {
            fail("handling the same events a second time leads to something else");
        }
        if constexpr (writes_undo<M>) {
            worker.undo(lp.state, undo_data, number);
        } else if constexpr (std::is_trivially_copyable_v<typename M::State>) {
            std::memcpy(&lp.state, before.data(), sizeof lp.state);
        } else {
            fail("its state cannot be copied byte by byte, and the model does not undo it");
        }
        lp.sequence = sequence;
        if (before != bytes_of<M>(worker, lp.state, number)) {
            fail("undoing its events does not lead back to the state before them");
        }
    }
}

/// The same with queued events, as a scheduler has them: `begins` and `until` of their cell or window. The LP's timer
/// stays as it is.
template <WindowModel M>
[[gnu::noinline]] void check_lp(typename M::Worker& worker, Delivery<M>& delivery, Lp<typename M::State>& lp,
                                std::uint32_t number, std::span<const QueuedEvent> events, Time begins, Time until,
                                const Grid& grid) {
    const std::uint32_t timer = lp.timer;
    check_execution<M>(worker, lp, number, delivery.deliver_all(lp, events, begins, until, grid), begins, until);
    lp.timer = timer;
}

}  // namespace idlewave::pdes
