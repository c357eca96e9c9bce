#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/archive.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "pdes/event.hpp"
#include "pdes/refusals.hpp"

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
    /// To be put out once it is certain that the event is handled here and now: of models that have a Record.
    template <class Record>
    void emit(const Record& record);
    /// Before a model that `saves` writes to a field: of its state, or of what belongs to the LP elsewhere.
    template <class Field>
    void save(Field& field);
};

/// What it sees while it undoes one: the same random bits as it drew then.
struct ReverseShape {
    [[nodiscard]] std::uint32_t self() const;
    [[nodiscard]] Time now() const;
    Philox draws();
};

/// A model as one writes it first: an LP has a state that can be copied byte by byte, and handles one event after the
/// other. `start` is what it does at time 0. Events of one time are handled by their depth (those that were sent at
/// that very time after the one that sent them), then by source, then as they were sent.
///
/// Time Warp copies the state before it handles events, unless the model is Saving (`saves`: it says what it is about
/// to change) or Reversible (it has a `reverse` of each event). A model with a `Record` may `emit` such.
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

template <class M>
concept Saving = requires { requires M::saves; };

template <class M>
concept Reversible = requires(const M& model, typename M::State& state, const typename M::Payload& payload,
                              ReverseShape& situation) { model.reverse(state, payload, situation); };

/// A model of which some LPs do nothing before it is certain (`conservative(lp)`), while others go ahead.
template <class M>
concept Mixed = requires(const M& model, std::uint32_t lp) {
    { model.conservative(lp) } -> std::same_as<bool>;
};

/// A model that is told of what its LPs emitted, once it is certain: `commit(lp, time, record)`, of an LP in its order,
/// on the thread that has the LP. What is told is not kept, neither to the end nor in a checkpoint.
template <class M>
concept Committing = requires(const M& model, std::uint32_t lp, Time time, const typename M::Record& record) {
    model.commit(lp, time, record);
};

/// A model that keeps something of an LP elsewhere than in its state: `keep(lp, archive)` shows that to an archive.
template <class M>
concept Apart = requires(const M& model, std::uint32_t lp, Serialiser& packer, Deserialiser& unpacker) {
    model.keep(lp, packer);
    model.keep(lp, unpacker);
};

/// What an LP has put out, and when.
template <class Record>
struct EmittedRecord {
    Time time = 0;
    std::uint32_t lp = 0;
    Record record = {};
};
template <class M>
struct EmittedByEvent {};
template <class M>
    requires requires { typename M::Record; }
struct EmittedByEvent<M> {
    using Emitted = EmittedRecord<typename M::Record>;
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
class ByEvent : public EmittedByEvent<M> {
  public:
    static_assert(!Apart<M> || Saving<M> || Reversible<M>,
                  "what lies apart from the state is not undone by a copy of it");
    static constexpr bool journals = Saving<M> || Reversible<M>;
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

        explicit Worker(ByEvent& model) : model_(model.model_), lookahead_(model_.lookahead()) {}

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
            save_draws(situation);
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
            save_draws(situation);
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

        [[nodiscard]] bool certain_only(const State& /*state*/, std::uint32_t lp) const
            requires Mixed<M>
        {
            return model_.conservative(lp);
        }
        [[nodiscard]] static bool certain_only(const Payload& /*payload*/) { return false; }

        void pack(const State& state, std::uint32_t lp, Serialiser& packer) const
            requires Apart<M>
        {
            packer(state);
            model_.keep(lp, packer);
        }
        void unpack(State& state, std::uint32_t lp, Deserialiser& unpacker) const
            requires Apart<M>
        {
            unpacker(state);
            model_.keep(lp, unpacker);
        }

        template <class Emitted>
        void commit(const Emitted& emitted) const
            requires Committing<M>
        {
            model_.commit(emitted.lp, emitted.time, emitted.record);
        }

        /// Undoes all that the LP `number` did since the journal was empty.
        void undo(State& state, std::span<const std::byte> journal, std::uint32_t number)
            requires journals
        {
            if constexpr (Reversible<M>) {
                reverse_all(state, journal, number);
            } else {
                restore_saved(journal);
            }
        }

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
                if (delay < (destination == self() ? 0 : worker.lookahead_)) [[unlikely]] {
                    refuse_event(self(), destination, time + delay, worker.model_.lps(),
                                 delay < 0 ? "that is in the past" : "that violates the lookahead");
                }
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

            template <class Record>
            void emit(const Record& record) {
                context.emit({time, self(), record});
            }

            template <class Field>
            void save(Field& field) {
                static_assert(std::is_trivially_copyable_v<Field>);
                if constexpr (requires { context.journal->size(); }) {
                    if (context.journal != nullptr) {
                        write_saved(*context.journal, field);
                    }
                }
            }

          private:
            [[nodiscard]] std::uint32_t deeper(Time then) const { return then == time ? depth + 1 : 0; }
        };

        template <class Situation>
        [[gnu::always_inline]] void handle(const Event& event, Situation& situation) {
            situation.time = event.time;
            situation.depth = depth_of(event);
            if constexpr (deep) {
                handle_payload(event.payload->payload, situation);
            } else {
                handle_payload(*event.payload, situation);
            }
        }

        template <class Situation>
        void handle(const Own& own, Situation& situation) {
            situation.time = own.time;
            situation.depth = own.depth;
            handle_payload(own.payload, situation);
        }

        template <class Situation>
        [[gnu::always_inline]] void handle_payload(const typename M::Payload& payload, Situation& situation) {
            ++handled_;
            if constexpr (Reversible<M> && requires { situation.context.journal->size(); }) {
                if (situation.context.journal != nullptr) {
                    write(*situation.context.journal, Handled{situation.time, situation.state.draws, payload});
                }
            }
            model_.handle(situation.state.model, payload, situation);
        }

        // ---- there and back

        /// In the journal of a Reversible model: an event, in the order in which they were handled.
        struct Handled {
            Time time = 0;
            std::uint64_t draws = 0;  ///< before it
            typename M::Payload payload = {};
        };
        /// In that of a Saving one: where a field lies; what it was follows.
        struct Saved {
            std::byte* address = nullptr;
            std::uint64_t bytes = 0;
        };

        struct Reversal {
            const Worker& worker;
            std::uint32_t number;
            Time time;
            std::uint64_t& draws_made;

            [[nodiscard]] std::uint32_t self() const { return number; }
            [[nodiscard]] Time now() const { return time; }
            Philox draws() { return idlewave::draws(worker.model_.seed(), Stream::model, number, draws_made++); }
        };

        template <class T>
        static void write(std::vector<std::byte>& journal, const T& value) {
            const auto* bytes = reinterpret_cast<const std::byte*>(&value);
            journal.insert(journal.end(), bytes, bytes + sizeof value);
        }

        template <class Field>
        static void write_saved(std::vector<std::byte>& journal, Field& field) {
            write(journal, Saved{reinterpret_cast<std::byte*>(&field), sizeof field});
            write(journal, field);
        }

        template <class Situation>
        [[gnu::always_inline]] static void save_draws(Situation& situation) {
            if constexpr (Saving<M> && !Reversible<M>) {
                situation.save(situation.state.draws);
            }
        }

        void reverse_all(State& state, std::span<const std::byte> journal, std::uint32_t number) {
            Handled handled;
            for (std::size_t end = journal.size(); end > 0; end -= sizeof handled) {
                std::memcpy(&handled, journal.data() + end - sizeof handled, sizeof handled);
                std::uint64_t draws = handled.draws;
                Reversal reversal{*this, number, handled.time, draws};
                model_.reverse(state.model, handled.payload, reversal);
                state.draws = handled.draws;
            }
        }

        /// The last one first, since a field may have been saved twice.
        void restore_saved(std::span<const std::byte> journal) {
            saved_.clear();
            Saved saved;
            for (std::size_t at = 0; at < journal.size(); at += sizeof saved + saved.bytes) {
                saved_.push_back(at);
                std::memcpy(&saved, journal.data() + at, sizeof saved);
            }
            for (; !saved_.empty(); saved_.pop_back()) {
                const std::byte* entry = journal.data() + saved_.back();
                std::memcpy(&saved, entry, sizeof saved);
                std::memcpy(saved.address, entry + sizeof saved, saved.bytes);
            }
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
        Time lookahead_;
        std::vector<Own> own_;  ///< a heap
        std::vector<Event> sorted_;
        std::vector<std::size_t> saved_;  ///< where entries begin in a journal
        std::uint64_t told_itself_ = 0;
        std::uint64_t handled_ = 0;
    };

  private:
    const M& model_;
    Payload nothing_{};
};

}  // namespace idlewave::pdes
