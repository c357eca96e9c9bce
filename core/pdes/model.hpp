#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/archive.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

// ---- a model that handles one event after the other

/// What a model is given while it handles an event.
template <class Payload>
struct ContextInterface {
    /// The LP that handles the event.
    [[nodiscard]] std::uint32_t self() const;
    /// The event's time.
    [[nodiscard]] Time now() const;
    /// Sends an event, which `destination` handles after `delay`: at least the lookahead, or anything from 0 on to the
    /// LP itself.
    void send(std::uint32_t destination, Time delay, const Payload& payload);
    /// 256 random bits, new ones at each call: a pure function of the seed, the LP and the number of its earlier calls.
    Philox random_bits();
    /// Puts out a record, which becomes visible when the event is committed. For models with a `Record`.
    template <class Record>
    void emit(const Record& record);
    /// Called by a model with `saves_fields` before it writes to a field of its state, or of what it keeps elsewhere.
    template <class Field>
    void save(Field& field);
};

/// What a model is given while it undoes an event: the same time, and the same random bits as it drew then.
struct ReverseContextInterface {
    [[nodiscard]] std::uint32_t self() const;
    [[nodiscard]] Time now() const;
    Philox random_bits();
};

/// A type whose values can be made without arguments and copied byte by byte.
template <class T>
concept PlainData = std::default_initializable<T> && std::is_trivially_copyable_v<T>;

/// A model: LPs with a state that can be copied byte by byte, which handle one event after the other. `start` is what
/// an LP does at time 0. Events of one time are handled in the order of their depth (an event that was sent with delay
/// 0 is one deeper than the event that sent it), then of their source, then of their sequence.
template <class M>
concept Model = PlainData<typename M::State> && PlainData<typename M::Payload> &&
                requires(const M& model, typename M::State& state, const typename M::Payload& payload,
                         ContextInterface<typename M::Payload>& context) {
                    { model.lps() } -> std::convertible_to<std::uint32_t>;
                    { model.lookahead() } -> std::convertible_to<Time>;
                    { model.seed() } -> std::convertible_to<std::uint64_t>;
                    model.start(state, context);
                    model.handle(state, payload, context);
                };

// What a model may have besides. Time Warp copies an LP's state before it executes events, unless the model has one of
// the first two.

/// The model calls `context.save(field)` before it writes to a field: `static constexpr bool saves_fields = true`.
template <class M>
concept has_save = requires { requires M::saves_fields; };

/// The model undoes an event: `reverse(state, payload, context)`. The latest event is undone first.
template <class M>
concept has_reverse = requires(const M& model, typename M::State& state, const typename M::Payload& payload,
                               ReverseContextInterface& context) { model.reverse(state, payload, context); };

/// Some LPs never execute an event that may be rolled back: `conservative(lp)`.
template <class M>
concept has_conservative = requires(const M& model, std::uint32_t lp) {
    { model.conservative(lp) } -> std::same_as<bool>;
};

/// The model receives the records that its LPs emit: `commit(lp, time, record)`, in the order of each LP, on the thread
/// that simulates it. Such records are not kept, neither to the end of the run nor in a checkpoint.
template <class M>
concept has_commit = requires(const M& model, std::uint32_t lp, Time time, const typename M::Record& record) {
    model.commit(lp, time, record);
};

/// The model keeps something of an LP elsewhere than in its state: `serialise(lp, archive)` calls `archive(field)` for
/// each such field, for a checkpoint or for migration to another thread.
template <class M>
concept has_serialise = requires(const M& model, std::uint32_t lp, Serialiser& serialiser, Deserialiser& deserialiser) {
    model.serialise(lp, serialiser);
    model.serialise(lp, deserialiser);
};

/// The model computes what an LP adds to the digest of a run: `digest(lp, state)`, of the state at the end. Without it
/// the digest is that of the state's bytes (state_digest.hpp).
template <class M>
concept has_digest = requires(const M& model, std::uint32_t lp, const typename M::State& state) {
    { model.digest(lp, state) } -> std::same_as<std::uint64_t>;
};

/// The model names a time within which most events arrive: `typical_delay()`. Without a lookahead it sets the length of
/// a cell.
template <class M>
concept has_typical_delay = requires(const M& model) {
    { model.typical_delay() } -> std::convertible_to<Time>;
};

/// The model is refused without a lookahead: `static constexpr bool needs_lookahead = true`. A run without one is then
/// not compiled either.
template <class M>
concept needs_lookahead = requires { requires M::needs_lookahead; };

/// The unit of the model's times, in messages and statistics: `static constexpr std::string_view time_unit = "ps"`.
template <class M>
inline constexpr std::string_view time_unit = "ticks";
template <class M>
    requires requires { M::time_unit; }
inline constexpr std::string_view time_unit<M> = M::time_unit;

// ---- a model that executes a whole window at once

/// What a scheduler offers to a WindowModel while it executes events of an LP.
template <class Payload>
struct WindowContextInterface {
    /// The LP that is executed.
    [[nodiscard]] std::uint32_t self() const;
    /// Number of events that it has sent.
    [[nodiscard]] std::uint32_t sent() const;
    /// Sends an event, which `destination` receives at `time`, not before the present plus the lookahead: with a
    /// payload that the model knows as `code`, or with another one (or the arguments of its constructor).
    void send(std::uint32_t destination, Time time, std::uint16_t code);
    void send(std::uint32_t destination, Time time, const Payload& payload);
};

/// The type of what a WindowModel emits: `Emitted`, with a field `lp`; empty if it emits nothing.
struct NothingEmitted {};
template <class M>
struct EmittedOf {
    using Type = NothingEmitted;
};
template <class M>
    requires requires { typename M::Emitted; }
struct EmittedOf<M> {
    using Type = typename M::Emitted;
};

// What a WindowModel may have besides.

/// It emits records: `Emitted`, which `context.emit` takes.
template <class M>
concept emits = !std::is_empty_v<typename EmittedOf<M>::Type>;

/// A worker receives the records that its LPs emitted, at commit: `commit(emitted)`.
template <class M>
concept receives_emitted =
    requires(typename M::Worker& worker, const typename EmittedOf<M>::Type& emitted) { worker.commit(emitted); };

/// It writes what is needed to undo it to `context.undo_data`: `static constexpr bool writes_undo = true`; a worker's
/// `undo(state, undo_data, lp)` reads that. Others are undone by a copy of the state.
template <class M>
concept writes_undo = requires { requires M::writes_undo; };

/// The state of an LP cannot be copied byte by byte: `pack` and `unpack` of a worker serialise it.
template <class M>
concept serialises = requires(typename M::Worker& worker, typename M::State& state, std::uint32_t lp,
                              Serialiser& serialiser, Deserialiser& deserialiser) {
    worker.pack(state, lp, serialiser);
    worker.unpack(state, lp, deserialiser);
};

/// Some of what `pack` writes moves away with the LP, or a rollback leaves it: the scheduler `check` compares the bytes
/// that `pack_state(state, lp, serialiser)` of a worker writes.
template <class M>
concept packs_state = requires(typename M::Worker& worker, const typename M::State& state, std::uint32_t lp,
                               Serialiser& serialiser) { worker.pack_state(state, lp, serialiser); };

/// A worker gives a payload from another process its code in this process, or QueuedEvent::pooled:
/// `assign_code(payload)`.
template <class M>
concept assigns_codes = requires(typename M::Worker& worker, typename M::Payload& payload) {
    { worker.assign_code(payload) } -> std::same_as<std::uint16_t>;
};

/// Time Warp does not execute some LPs, or some events, before they are certain: `is_conservative(state, lp)` and
/// `is_conservative(payload)` of a worker.
template <class M>
concept has_conservative_lps = requires(const typename M::Worker& worker, const typename M::State& state,
                                        const typename M::Payload& payload, std::uint32_t lp) {
    { worker.is_conservative(state, lp) } -> std::same_as<bool>;
    { worker.is_conservative(payload) } -> std::same_as<bool>;
};

/// It may run without a lookahead; the conservative scheduler needs one.
template <class M>
concept may_lack_lookahead = requires { requires M::may_lack_lookahead; };

/// The refinement that schedulers run: it executes all events of an LP in a window of time at once, and does what the
/// LP does between them of its own accord. HandlerModel makes one of a Model.
///
/// All threads share the model and each has a Worker.
/// - `start` is called once for each LP before its first event. It does what the LP does by itself before `until`, and
///   returns when the LP has more to do (`never`: only after an event).
/// - `run` executes `events` in their order, and what the LP does by itself before, between and after them, at least
///   before `until`. It returns the same.
/// - `run_one` is `run` with one event, the most frequent case.
/// - `step` executes `events`, all of time `now`, and one thing that the LP can do by itself at `now`: for the event
///   list of a model without a lookahead.
/// - Four steps bring memory into the cache that an LP will need: `prefetch_lp` that to which its number leads,
///   `prefetch_state` that to which its state leads, `prefetch_for` what the next event or timer needs of that, and
///   `prefetch_further` what this leads to. `fetch_steps` says how many of them pay at present; Time Warp
///   takes the first two at most.
/// - `executed` counts the events that the worker has executed; a scheduler lowers it when it rolls events back.
/// - `payload` is the payload that a code below QueuedEvent::anti_message stands for.
/// - `lookahead` is the least time between an event and an event that it causes at another LP.
template <class M>
concept WindowModel =
    requires(M& model, typename M::Worker& worker, typename M::State& state, std::uint32_t lp,
             std::span<const Event<typename M::Payload>> events, Time time,
             WindowContextInterface<typename M::Payload>& context) {
        requires PlainData<typename M::Payload>;
        requires std::constructible_from<typename M::Worker, M&>;
        { worker.start(state, time, context) } -> std::same_as<Time>;
        { worker.run(state, events, time, context) } -> std::same_as<Time>;
        { worker.run_one(state, events.front(), time, context) } -> std::same_as<Time>;
        { worker.step(state, events, time, context) } -> std::same_as<Time>;
        worker.prefetch_lp(lp);
        worker.prefetch_state(state, lp);
        worker.prefetch_for(state, Upcoming<typename M::Payload>{});
        worker.prefetch_further(state, lp, Upcoming<typename M::Payload>{});
        { worker.fetch_steps() } -> std::convertible_to<std::size_t>;
        { worker.executed() } -> std::same_as<std::uint64_t&>;
        { model.payload(std::uint16_t{}) } -> std::same_as<const typename M::Payload&>;
        { model.lookahead() } -> std::convertible_to<Time>;
        { model.lps() } -> std::convertible_to<std::uint32_t>;
    } &&
    (!writes_undo<M> ||
     requires(typename M::Worker& worker, typename M::State& state, std::span<const std::byte> undo_data,
              std::uint32_t lp) { worker.undo(state, undo_data, lp); });

}  // namespace idlewave::pdes
