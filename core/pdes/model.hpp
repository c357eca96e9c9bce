#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "base/time.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// What every scheduler offers to a model while it simulates an LP. This one only says what there is.
template <class Payload>
struct ContextShape {
    /// The LP that is being simulated.
    [[nodiscard]] std::uint32_t self() const;
    /// How many events it has sent.
    [[nodiscard]] std::uint32_t sent() const;
    /// Tell `destination` something at `time`, not before the present plus the lookahead: what the model knows as
    /// `code`, or a payload that it does not (or what that is made of).
    void send(std::uint32_t destination, Time time, std::uint16_t code);
    void send(std::uint32_t destination, Time time, const Payload& payload);
};

/// A model: LPs with a typed state, told of typed events. Beside the events that it is sent, an LP does things by
/// itself.
///
/// The model itself is shared by all threads and changes nothing but what is made for that; each thread has a Worker.
/// - `start` is called once for every LP, before it is told anything: it does all that the LP does by itself up to but
///   not including `until`. Returns when there is more to do (`never`: nothing).
/// - `run` handles `events`, in their order, each at its time, and does all that the LP does by itself before, between
///   and after them, up to but not including `until`. Returns the same.
/// - `run_one` is the same with one event, as it most often is.
/// - `step` does one thing that the LP can do by itself at `now`, after handling `events`, all of that time; for
///   schedulers that have no lookahead.
/// - `prefetch` brings what lies apart from an LP's state into the cache; it changes nothing.
/// - `payload` is what a code stands for: codes are agreed upon by model and payload, and below Stored::anti.
/// - `lookahead` is the least time between an event and what it causes at any LP through an event.
///
/// Some of it need not be there. A worker may `pack` and `unpack` an LP where copying its state byte by byte would not
/// do, and `adopt` a payload where codes mean something in this process alone: returns the code that it has here, or
/// Stored::in_parcel. Of what is `certain_only`, an LP as it is or a payload, Time Warp does nothing before it is
/// certain: conservative LPs among optimistic ones. A model that packs also `journals`, and what it emits has a field
/// `lp`; its worker may `commit` that, when it is certain, and else it is kept to the end.
template <class M>
concept Model = requires(M& model, typename M::Worker& worker, typename M::State& state, std::uint32_t lp,
                         std::span<const Event<typename M::Payload>> events, Time time,
                         ContextShape<typename M::Payload>& context) {
    { worker.start(state, time, context) } -> std::same_as<Time>;
    { worker.run(state, events, time, context) } -> std::same_as<Time>;
    { worker.run_one(state, events.front(), time, context) } -> std::same_as<Time>;
    { worker.step(state, events, time, context) } -> std::same_as<Time>;
    { model.payload(std::uint16_t{}) } -> std::same_as<const typename M::Payload&>;
    { model.lookahead() } -> std::convertible_to<Time>;
    { model.lps() } -> std::convertible_to<std::uint32_t>;
};

/// What a model puts out by `context.emit`, to appear once it is certain; of models that do not, nothing.
struct NothingEmitted {};
template <class M>
struct EmittedBy {
    using Type = NothingEmitted;
};
template <class M>
    requires requires { typename M::Emitted; }
struct EmittedBy<M> {
    using Type = typename M::Emitted;
};

/// Whether a model undoes what it did by a journal of its own, instead of getting a copy of its state back:
/// `context.journal` is where it writes, `worker.undo` what reads it.
template <class M>
inline constexpr bool journals = requires { requires M::journals; };

}  // namespace idlewave::pdes
