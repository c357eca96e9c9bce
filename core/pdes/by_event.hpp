#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// What a model that is written event by event sees while it handles one.
template <class Payload>
struct SituationShape {
    [[nodiscard]] std::uint32_t self() const;
    [[nodiscard]] Time now() const;
    /// Tell `destination` something after `delay`: at least the lookahead, but for the LP itself, to which it may be
    /// anything from 0 on.
    void send(std::uint32_t destination, Time delay, const Payload& payload);
    /// 256 random bits, other ones every time: a pure function of seed, LP and how often it has asked.
    Philox draws();
};

/// A model as one writes it first: an LP has a state that can be copied byte by byte, and handles one event after the
/// other. `start` is what it does at time 0. Events of one time are handled by their depth (those that were sent at
/// that very time after the one that sent them), then by source, then as they were sent.
template <class M>
concept EventModel =
    std::is_trivially_copyable_v<typename M::State> && std::is_trivially_copyable_v<typename M::Payload> &&
    requires(const M& model, typename M::State& state, const typename M::Payload& payload,
             SituationShape<typename M::Payload>& situation) {
        { model.lps() } -> std::convertible_to<std::uint32_t>;
        { model.lookahead() } -> std::convertible_to<Time>;
        { model.seed() } -> std::convertible_to<std::uint64_t>;
        model.start(state, situation);
        model.handle(state, payload, situation);
    };

/// A payload that knows how many events of its very time led to it, one after the other.
template <class Payload>
struct DeepPayload {
    [[no_unique_address]] Payload payload = {};
    std::uint32_t depth = 0;

    bool operator==(const DeepPayload&) const = default;
};

/// An EventModel as the kernel runs it: an LP goes through what it is told and what it tells itself in the order of
/// time. `deep`: the model may have no lookahead, so that LPs tell each other things at the very time.
template <EventModel M, bool deep>
class ByEvent {
  public:
    using Payload = std::conditional_t<deep, DeepPayload<typename M::Payload>, typename M::Payload>;
    struct State {
        typename M::State model = {};
        std::uint64_t draws = 0;
    };

    explicit ByEvent(const M& model) : model_(model) {}

    [[nodiscard]] std::uint32_t lps() const { return model_.lps(); }
    [[nodiscard]] Time lookahead() const { return model_.lookahead(); }
    [[nodiscard]] const Payload& payload(std::uint16_t /*code*/) const { return nothing_; }

    class Worker {
      public:
        using Event = pdes::Event<Payload>;

        explicit Worker(ByEvent& model) : model_(model.model_) {}

        template <class Context>
        Time start(State& state, Time until, Context& context) {
            Situation<Context> situation{*this, state, context, until};
            model_.start(state.model, situation);
            go_through({}, situation);
            return never;
        }

        template <class Context>
        Time run(State& state, std::span<const Event> events, Time until, Context& context) {
            Situation<Context> situation{*this, state, context, until};
            if constexpr (deep) {
                sorted_.assign(events.begin(), events.end());
                std::sort(sorted_.begin(), sorted_.end(), before);
                events = sorted_;
            }
            go_through(events, situation);
            return never;
        }

        template <class Context>
        [[gnu::always_inline]] Time run_one(State& state, const Event& event, Time until, Context& context) {
            Situation<Context> situation{*this, state, context, until};
            handle(event, situation);
            if (!own_.empty()) [[unlikely]] {
                go_through({}, situation);
            }
            return never;
        }

        /// Events of one time, and of one depth.
        template <class Context>
        Time step(State& state, std::span<const Event> events, Time now, Context& context) {
            Situation<Context> situation{*this, state, context, now};
            for (const Event& event : events) {
                handle(event, situation);
            }
            return never;
        }

        void prefetch(const State& /*state*/, std::uint32_t /*lp*/) const {}

        /// How many events it has handled: what the kernel may take back.
        [[nodiscard]] std::uint64_t& counted() { return handled_; }

      private:
        /// What an LP tells itself within the time that it goes through.
        struct Own {
            Time time;
            std::uint32_t depth;
            std::uint64_t order;
            typename M::Payload payload;

            bool operator<(const Own& other) const {  // the first on top
                return std::tie(time, depth, order) > std::tie(other.time, other.depth, other.order);
            }
        };

        template <class Context>
        struct Situation {
            Worker& worker;
            State& state;
            Context& context;
            Time until;
            Time time = 0;
            std::uint32_t depth = 0;

            [[nodiscard]] std::uint32_t self() const { return context.self(); }
            [[nodiscard]] Time now() const { return time; }

            [[gnu::always_inline]] void send(std::uint32_t destination, Time delay,
                                             const typename M::Payload& payload) {
                const Time then = later(time, delay);
                if (then < until && destination == self()) [[unlikely]] {
                    worker.tell_itself({then, deeper(then), 0, payload});
                } else if constexpr (deep) {
                    context.send(destination, then, Payload{payload, deeper(then)});
                } else if constexpr (std::is_empty_v<typename M::Payload>) {
                    context.send(destination, then, std::uint16_t{0});
                } else {
                    context.send(destination, then, payload);
                }
            }

            [[gnu::always_inline]] Philox draws() {
                return idlewave::draws(worker.model_.seed(), Stream::model, self(), state.draws++);
            }

          private:
            [[nodiscard]] std::uint32_t deeper(Time then) const { return then == time ? depth + 1 : 0; }
        };

        template <class Situation>
        [[gnu::always_inline]] void handle(const Event& event, Situation& situation) {
            situation.time = event.time;
            situation.depth = depth_of(event);
            ++handled_;
            if constexpr (deep) {
                model_.handle(situation.state.model, event.payload->payload, situation);
            } else {
                model_.handle(situation.state.model, *event.payload, situation);
            }
        }

        template <class Situation>
        void handle(const Own& own, Situation& situation) {
            situation.time = own.time;
            situation.depth = own.depth;
            ++handled_;
            model_.handle(situation.state.model, own.payload, situation);
        }

        /// All that the LP is told, and what it tells itself before `until`.
        template <class Situation>
        void go_through(std::span<const Event> events, Situation& situation) {
            while (!events.empty() || !own_.empty()) {
                if (own_.empty() || (!events.empty() && goes_first(events.front(), own_.front(), situation.self()))) {
                    handle(events.front(), situation);
                    events = events.subspan(1);
                } else {
                    std::pop_heap(own_.begin(), own_.end());
                    const Own own = own_.back();
                    own_.pop_back();
                    handle(own, situation);
                }
            }
        }

        void tell_itself(Own own) {
            own.order = ++told_itself_;
            own_.push_back(own);
            std::push_heap(own_.begin(), own_.end());
        }

        [[nodiscard]] static std::uint32_t depth_of(const Event& event) {
            if constexpr (deep) {
                return event.payload->depth;
            } else {
                return 0;
            }
        }

        static bool before(const Event& a, const Event& b) {
            return std::tuple(a.time, depth_of(a), a.source, a.sequence) <
                   std::tuple(b.time, depth_of(b), b.source, b.sequence);
        }

        /// An event that has come from outside was sent before anything that the LP tells itself now.
        static bool goes_first(const Event& event, const Own& own, std::uint32_t self) {
            const auto key = std::tuple(event.time, depth_of(event), event.source);
            return key <= std::tuple(own.time, own.depth, self);
        }

        const M& model_;
        std::vector<Own> own_;  ///< a heap
        std::vector<Event> sorted_;
        std::uint64_t told_itself_ = 0;
        std::uint64_t handled_ = 0;
    };

  private:
    const M& model_;
    Payload nothing_{};
};

}  // namespace idlewave::pdes
