#pragma once

#include <concepts>
#include <cstdint>

#include "base/time.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// What every scheduler offers to a model while it handles an event of one LP. This one only says what there is.
template <class Payload>
struct ContextShape {
    /// The LP that is being simulated.
    [[nodiscard]] std::uint32_t self() const;
    /// Tell `destination` something at `time`: not before the present plus the lookahead.
    void send(std::uint32_t destination, Time time, const Payload& payload);
};

/// A model: LPs with a typed state, told of typed events. Beside the events that it is sent, an LP has one timer.
///
/// - `start` is called once for every LP before anything happens; returns when the LP has something to do by itself
///   (`never`: nothing).
/// - `handle` is called for every event, in the total order of Event::order.
/// - `settle` is called after the last event of an LP at one time, or when its timer is due. It does one thing that the
///   LP can do at `now`, and returns when there is more to do: `now` or before means at once, so it is called again.
/// - `lookahead` is the least time between an event and what it causes at any LP through an event.
template <class M>
concept Model = requires(M& model, typename M::State& state, const Event<typename M::Payload>& event, Time now,
                         ContextShape<typename M::Payload>& context) {
    { model.start(state, context) } -> std::same_as<Time>;
    model.handle(state, event, context);
    { model.settle(state, now, context) } -> std::same_as<Time>;
    { model.lookahead() } -> std::convertible_to<Time>;
    { model.lps() } -> std::convertible_to<std::uint32_t>;
};

}  // namespace idlewave::pdes
