#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/archive.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "pdes/event.hpp"
#include "pdes/model.hpp"
#include "pdes/model_errors.hpp"

namespace idlewave::pdes {

/// A record that an LP has emitted, and when.
template <class Record>
struct EmittedRecord {
    Time time = 0;
    std::uint32_t lp = 0;
    Record record = {};
};
template <class M>
struct HandlerModelEmits {};
template <class M>
    requires requires { typename M::Record; }
struct HandlerModelEmits<M> {
    using Emitted = EmittedRecord<typename M::Record>;
};

/// A payload and its event's depth: the number of events of the same time that caused it, one after the other.
template <class Payload>
struct PayloadWithDepth {
    [[no_unique_address]] Payload payload = {};
    std::uint32_t depth = 0;

    bool operator==(const PayloadWithDepth&) const = default;
};

/// Makes a WindowModel of a Model: an LP executes the events that it receives and those that it sends to itself within
/// the window, in the order of time. `with_depth`: the model may have no lookahead, so that an LP may receive events of
/// the time at which they were sent.
template <Model M, bool with_depth>
class HandlerModel : public HandlerModelEmits<M> {
  public:
    static_assert(!has_serialise<M> || has_save<M> || has_reverse<M>,
                  "has_serialise: a copy of the state does not undo what the model keeps elsewhere; it needs "
                  "saves_fields or reverse");
    static constexpr bool may_lack_lookahead = with_depth;
    static constexpr std::string_view time_unit = pdes::time_unit<M>;
    static constexpr bool writes_undo = has_save<M> || has_reverse<M>;
    using Payload = std::conditional_t<with_depth, PayloadWithDepth<typename M::Payload>, typename M::Payload>;
    struct State {
        typename M::State model = {};
        std::uint64_t draws = 0;
    };

    explicit HandlerModel(const M& model) : model_(model) {}

    [[nodiscard]] std::uint32_t lps() const { return model_.lps(); }
    [[nodiscard]] Time lookahead() const { return model_.lookahead(); }
    [[nodiscard]] const Payload& payload(std::uint16_t /*code*/) const { return nothing_; }

    class Worker {
      public:
        using Event = pdes::Event<Payload>;

        explicit Worker(HandlerModel& model) : model_(model.model_), lookahead_(model_.lookahead()) {}

        template <class WindowContext>
        Time start(State& state, Time until, WindowContext& window) {
            Context<WindowContext> context{*this, state, window, until};
            model_.start(state.model, context);
            execute({}, context);
            return never;
        }

        template <class WindowContext>
        Time run(State& state, std::span<const Event> events, Time until, WindowContext& window) {
            Context<WindowContext> context{*this, state, window, until};
            save_draw_count(context);
            if constexpr (with_depth) {
                sorted_.assign(events.begin(), events.end());
                std::sort(sorted_.begin(), sorted_.end(), before);
                events = sorted_;
            }
            execute(events, context);
            return never;
        }

        template <class WindowContext>
        [[gnu::always_inline]] Time run_one(State& state, const Event& event, Time until, WindowContext& window) {
            Context<WindowContext> context{*this, state, window, until};
            save_draw_count(context);
            handle(event, context);
            if (!own_events_.empty()) [[unlikely]] {
                execute({}, context);
            }
            return never;
        }

        /// Executes events of one time and one depth.
        template <class WindowContext>
        Time step(State& state, std::span<const Event> events, Time now, WindowContext& window) {
            Context<WindowContext> context{*this, state, window, now};
            for (const Event& event : events) {
                handle(event, context);
            }
            return never;
        }

        void prefetch_lp(std::uint32_t /*lp*/) const {}
        void prefetch_state(const State& /*state*/, std::uint32_t /*lp*/) const {}
        void prefetch_for(const State& /*state*/, const Upcoming<Payload>& /*next*/) const {}
        void prefetch_further(const State& /*state*/, std::uint32_t /*lp*/, const Upcoming<Payload>& /*next*/) const {}
        [[nodiscard]] static std::size_t fetch_steps() { return 1; }

        [[nodiscard]] bool is_conservative(const State& /*state*/, std::uint32_t lp) const
            requires has_conservative<M>
        {
            return model_.conservative(lp);
        }
        [[nodiscard]] static bool is_conservative(const Payload& /*payload*/) { return false; }

        void pack(const State& state, std::uint32_t lp, Serialiser& serialiser) const
            requires has_serialise<M>
        {
            serialiser(state);
            model_.serialise(lp, serialiser);
        }
        void unpack(State& state, std::uint32_t lp, Deserialiser& deserialiser) const
            requires has_serialise<M>
        {
            deserialiser(state);
            model_.serialise(lp, deserialiser);
        }

        template <class Emitted>
        void commit(const Emitted& emitted) const
            requires has_commit<M>
        {
            model_.commit(emitted.lp, emitted.time, emitted.record);
        }

        /// Undoes the events of the LP `number` that `undo_data` describes.
        void undo(State& state, std::span<const std::byte> undo_data, std::uint32_t number)
            requires writes_undo
        {
            if constexpr (has_reverse<M>) {
                reverse_all(state, undo_data, number);
            } else {
                restore_saved(undo_data);
            }
        }

        /// Number of events executed; a scheduler lowers it when it rolls events back.
        [[nodiscard]] std::uint64_t& executed() { return executed_; }

      private:
        /// An event that an LP sends to itself within the window.
        struct OwnEvent {
            Time time;
            std::uint32_t depth;
            std::uint64_t order;
            typename M::Payload payload;

            bool operator<(const OwnEvent& other) const {  // for a heap with the earliest on top
                return std::tie(time, depth, order) > std::tie(other.time, other.depth, other.order);
            }
        };

        template <class WindowContext>
        struct Context {
            Worker& worker;
            State& state;
            WindowContext& window;
            Time until;
            Time time = 0;
            std::uint32_t depth = 0;

            [[nodiscard]] std::uint32_t self() const { return window.self(); }
            [[nodiscard]] Time now() const { return time; }

            [[gnu::always_inline]] void send(std::uint32_t destination, Time delay,
                                             const typename M::Payload& payload) {
                if (delay < (destination == self() ? 0 : worker.lookahead_)) [[unlikely]] {
                    throw_invalid_send(self(), destination, time + delay, time_unit, worker.model_.lps(),
                                       delay < 0 ? "that is in the past" : "that violates the lookahead");
                }
                const Time then = later(time, delay);
                if (then < until && destination == self()) [[unlikely]] {
                    worker.send_to_itself({then, deeper(then), 0, payload});
                } else if constexpr (with_depth) {
                    window.send(destination, then, Payload{payload, deeper(then)});
                } else if constexpr (std::is_empty_v<typename M::Payload>) {
                    window.send(destination, then, std::uint16_t{0});
                } else {
                    window.send(destination, then, payload);
                }
            }

            [[gnu::always_inline]] Philox random_bits() {
                return idlewave::draws(worker.model_.seed(), Stream::model, self(), state.draws++);
            }

            template <class Record>
            void emit(const Record& record) {
                window.emit({time, self(), record});
            }

            template <class Field>
            void save(Field& field) {
                static_assert(std::is_trivially_copyable_v<Field>);
                if constexpr (requires { window.undo_data->size(); }) {
                    if (window.undo_data != nullptr) {
                        write_saved(*window.undo_data, field);
                    }
                }
            }

          private:
            [[nodiscard]] std::uint32_t deeper(Time then) const { return then == time ? depth + 1 : 0; }
        };

        template <class Context>
        [[gnu::always_inline]] void handle(const Event& event, Context& context) {
            context.time = event.time;
            context.depth = depth_of(event);
            if constexpr (with_depth) {
                handle_payload(event.payload->payload, context);
            } else {
                handle_payload(*event.payload, context);
            }
        }

        template <class Context>
        void handle(const OwnEvent& own, Context& context) {
            context.time = own.time;
            context.depth = own.depth;
            handle_payload(own.payload, context);
        }

        template <class Context>
        [[gnu::always_inline]] void handle_payload(const typename M::Payload& payload, Context& context) {
            ++executed_;
            if constexpr (has_reverse<M> && requires { context.window.undo_data->size(); }) {
                if (context.window.undo_data != nullptr) {
                    write(*context.window.undo_data, HandledEvent{context.time, context.state.draws, payload});
                }
            }
            model_.handle(context.state.model, payload, context);
        }

        // ---- undo data

        /// Undo data of a model that has `reverse`: an event, in the order of execution.
        struct HandledEvent {
            Time time = 0;
            std::uint64_t draws = 0;  ///< of the LP before the event
            typename M::Payload payload = {};
        };
        /// Undo data of a model that saves fields: a field's address and size; its old value follows.
        struct SavedField {
            std::byte* address = nullptr;
            std::uint64_t bytes = 0;
        };

        struct ReverseContext {
            const Worker& worker;
            std::uint32_t number;
            Time time;
            std::uint64_t& draw;

            [[nodiscard]] std::uint32_t self() const { return number; }
            [[nodiscard]] Time now() const { return time; }
            Philox random_bits() { return idlewave::draws(worker.model_.seed(), Stream::model, number, draw++); }
        };

        template <class T>
        static void write(std::vector<std::byte>& undo_data, const T& value) {
            const auto* bytes = reinterpret_cast<const std::byte*>(&value);
            undo_data.insert(undo_data.end(), bytes, bytes + sizeof value);
        }

        template <class Field>
        static void write_saved(std::vector<std::byte>& undo_data, Field& field) {
            write(undo_data, SavedField{reinterpret_cast<std::byte*>(&field), sizeof field});
            write(undo_data, field);
        }

        template <class Context>
        [[gnu::always_inline]] static void save_draw_count(Context& context) {
            if constexpr (has_save<M> && !has_reverse<M>) {
                context.save(context.state.draws);
            }
        }

        void reverse_all(State& state, std::span<const std::byte> undo_data, std::uint32_t number) {
            HandledEvent handled;
            for (std::size_t end = undo_data.size(); end > 0; end -= sizeof handled) {
                std::memcpy(&handled, undo_data.data() + end - sizeof handled, sizeof handled);
                std::uint64_t draws = handled.draws;
                ReverseContext reversal{*this, number, handled.time, draws};
                model_.reverse(state.model, handled.payload, reversal);
                state.draws = handled.draws;
            }
        }

        /// Restores the latest entry first, since a field may have been saved twice.
        void restore_saved(std::span<const std::byte> undo_data) {
            saved_.clear();
            SavedField saved;
            for (std::size_t at = 0; at < undo_data.size(); at += sizeof saved + saved.bytes) {
                saved_.push_back(at);
                std::memcpy(&saved, undo_data.data() + at, sizeof saved);
            }
            for (; !saved_.empty(); saved_.pop_back()) {
                const std::byte* entry = undo_data.data() + saved_.back();
                std::memcpy(&saved, entry, sizeof saved);
                std::memcpy(saved.address, entry + sizeof saved, saved.bytes);
            }
        }

        /// Executes `events`, and the events that the LP sends to itself before the end of the window.
        template <class Context>
        void execute(std::span<const Event> events, Context& context) {
            while (!events.empty() || !own_events_.empty()) {
                if (own_events_.empty() ||
                    (!events.empty() && precedes(events.front(), own_events_.front(), context.self()))) {
                    handle(events.front(), context);
                    events = events.subspan(1);
                } else {
                    std::pop_heap(own_events_.begin(), own_events_.end());
                    const OwnEvent own = own_events_.back();
                    own_events_.pop_back();
                    handle(own, context);
                }
            }
        }

        void send_to_itself(OwnEvent own) {
            own.order = ++sent_to_itself_;
            own_events_.push_back(own);
            std::push_heap(own_events_.begin(), own_events_.end());
        }

        [[nodiscard]] static std::uint32_t depth_of(const Event& event) {
            if constexpr (with_depth) {
                return event.payload->depth;
            } else {
                return 0;
            }
        }

        static bool before(const Event& a, const Event& b) {
            return std::tuple(a.time, depth_of(a), a.source, a.sequence) <
                   std::tuple(b.time, depth_of(b), b.source, b.sequence);
        }

        /// At equal time, depth and source an event of the queue goes first: it was sent before this window.
        static bool precedes(const Event& event, const OwnEvent& own, std::uint32_t self) {
            const auto key = std::tuple(event.time, depth_of(event), event.source);
            return key <= std::tuple(own.time, own.depth, self);
        }

        const M& model_;
        Time lookahead_;
        std::vector<OwnEvent> own_events_;  ///< a heap, the earliest on top
        std::vector<Event> sorted_;
        std::vector<std::size_t> saved_;  ///< where each entry of the undo data begins
        std::uint64_t sent_to_itself_ = 0;
        std::uint64_t executed_ = 0;
    };

  private:
    const M& model_;
    Payload nothing_{};
};

}  // namespace idlewave::pdes
