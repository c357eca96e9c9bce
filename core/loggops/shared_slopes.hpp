#pragma once

#include <bit>
#include <cstdint>
#include <mutex>

#include "base/huge_memory.hpp"
#include "base/time.hpp"
#include "loggops/message.hpp"
#include "loggops/observer.hpp"
#include "loggops/slope_table.hpp"
#include "loggops/slopes.hpp"

namespace idlewave {

/// A time and its derivatives, as `Slopes` says, which lie in a table: in 16 bytes. They last as long as the table.
class SharedSlopes {
  public:
    SharedSlopes() = default;
    [[gnu::always_inline]] SharedSlopes(Time time, KnownSlopes* known)
        : words_{static_cast<std::uint64_t>(time), std::bit_cast<std::uint64_t>(known)} {}

    [[nodiscard]] LevelSlopes level(unsigned i) const {
        return known() == nullptr ? LevelSlopes{} : known()->slopes.level(i);
    }
    [[nodiscard]] Time computation() const { return known() == nullptr ? 0 : known()->slopes.computation(); }

    /// Where the slopes are; nullptr at the beginning, and `none` where they are 0 again.
    [[nodiscard, gnu::always_inline]] KnownSlopes* known() const { return std::bit_cast<KnownSlopes*>(words_[1]); }

    [[gnu::always_inline]] friend Time time_of(const SharedSlopes& moment) {
        return static_cast<Time>(moment.words_[0]);
    }
    [[gnu::always_inline]] friend bool same(const SharedSlopes& a, const SharedSlopes& b) {
        return time_of(a) == time_of(b) && a.known() == b.known();
    }
    [[gnu::always_inline]] friend SharedSlopes latest(const SharedSlopes& a, const SharedSlopes& b) {
        if (time_of(a) != time_of(b)) [[likely]] {
            return time_of(a) < time_of(b) ? b : a;
        }
        return a.known() == b.known() ? a : steepest(a, b);
    }

  private:
    /// Of two at one time.
    [[gnu::noinline]] static SharedSlopes steepest(const SharedSlopes& a, const SharedSlopes& b) {
        SlopeTable& table = *(a.known() == nullptr ? b : a).known()->table;
        KnownSlopes& first = a.known() == nullptr ? *table.none() : *a.known();
        KnownSlopes& second = b.known() == nullptr ? *table.none() : *b.known();
        return {time_of(a), table.steepest(first, second)};
    }

    /// The time, and the address. In one piece, since they are copied so: what was written in two would be read in one
    /// only after a delay.
    SlopeWords words_ = {};
};

/// Differentiates the simulation as `Differentiation` does, with moments that share their slopes: for runs in which few
/// slopes are different. Throws TooManySlopes in others. The moments of a run last as long as this.
class SharedDifferentiation : public RecordsNothing {
  public:
    using Moment = SharedSlopes;
    using Sent = const SlopeStep*;

    struct Payload : Message {
        KnownSlopes* sent = nullptr;  ///< the slopes of its arrival

        Payload() = default;
        Payload(const Message& message, Sent step) : Message(message), sent(step->message) {}
    };

    struct Begun {
        const SlopeStep* step;
    };

    static constexpr bool looks = true;

    [[gnu::always_inline]] Begun begin(std::uint32_t /*rank*/, const Moment& now, const Activity& activity,
                                       MessageCount& messages) {
        return {&table_.step(now.known() == nullptr ? *table_.none() : *now.known(), activity, messages)};
    }
    [[gnu::always_inline]] static Moment at(const Begun& begun, Point point, Time time) {
        switch (point) {
            case Point::sender_gap:
            case Point::receiver_gap:
                return {time, begun.step->nic};
            case Point::arrival:
            case Point::wire:
                return {time, begun.step->message};
            case Point::start:
            case Point::sender_free:
            case Point::receiver_free:
            case Point::computed:
                break;
        }
        return {time, begun.step->cpu};
    }
    [[gnu::always_inline]] static Sent post(const Begun& begun) { return begun.step; }
    [[gnu::always_inline]] static Moment arrival(const Payload& message, Time time) { return {time, message.sent}; }

    /// Of what a step sends one message_class has a code, that of the first message: most often all are of it.
    [[gnu::always_inline]] std::uint16_t code(const Message& message, Sent sent) {
        const std::uint32_t known = sent->code.load(std::memory_order_acquire);
        if (known >> 16 == message.message_class) [[likely]] {
            return static_cast<std::uint16_t>(known);
        }
        return known == SlopeStep::no_code ? add_code(message, sent) : Message::no_class;
    }
    [[nodiscard]] const Payload& payload(std::uint16_t code) const { return coded_[code]; }

  private:
    /// What others carry goes in parcels. So many fit into less than is taken in huge pages, each of which is cleared.
    static constexpr std::uint16_t most_codes = 1 << 14;
    static_assert(most_codes * sizeof(Payload) < smallest_huge_memory);

    [[gnu::noinline]] std::uint16_t add_code(const Message& message, Sent sent) {
        const std::lock_guard lock(mutex_);
        if (codes_ == most_codes) {
            sent->code.store(SlopeStep::never_a_code, std::memory_order_relaxed);
            return Message::no_class;
        }
        if (sent->code.load(std::memory_order_relaxed) != SlopeStep::no_code) {
            return Message::no_class;
        }
        coded_[codes_] = Payload(message, sent);
        sent->code.store(std::uint32_t{message.message_class} << 16 | codes_, std::memory_order_release);
        return codes_++;
    }

    SlopeTable table_;
    HugeArray<Payload> coded_{most_codes};  ///< by code
    std::uint16_t codes_ = 0;
    std::mutex mutex_;  ///< of those two; what is in `coded_` stays as it is
};

}  // namespace idlewave
