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

namespace idlewave::loggops {

/// A time and a pointer to its derivatives in a SlopeTable, in 16 bytes. It is valid as long as the table.
class SharedSlopes {
  public:
    SharedSlopes() = default;
    [[gnu::always_inline]] SharedSlopes(Time time, InternedSlopes* interned)
        : words_{static_cast<std::uint64_t>(time), std::bit_cast<std::uint64_t>(interned)} {}

    [[nodiscard]] LevelSlopes level(unsigned i) const {
        return interned() == nullptr ? LevelSlopes{} : interned()->slopes.level(i);
    }
    [[nodiscard]] Time computation() const { return interned() == nullptr ? 0 : interned()->slopes.computation(); }

    /// The table entry of the slopes: nullptr at the beginning of the simulation, `zero` where they are 0 again.
    [[nodiscard, gnu::always_inline]] InternedSlopes* interned() const {
        return std::bit_cast<InternedSlopes*>(words_[1]);
    }

    [[gnu::always_inline]] friend Time time_of(const SharedSlopes& moment) {
        return static_cast<Time>(moment.words_[0]);
    }
    [[gnu::always_inline]] friend bool same(const SharedSlopes& a, const SharedSlopes& b) {
        return time_of(a) == time_of(b) && a.interned() == b.interned();
    }
    [[gnu::always_inline]] friend SharedSlopes latest(const SharedSlopes& a, const SharedSlopes& b) {
        if (time_of(a) != time_of(b)) [[likely]] {
            return time_of(a) < time_of(b) ? b : a;
        }
        return a.interned() == b.interned() ? a : steepest(a, b);
    }

  private:
    using Words = std::uint64_t __attribute__((vector_size(16)));

    /// The steepest of two moments at one time.
    [[gnu::noinline]] static SharedSlopes steepest(const SharedSlopes& a, const SharedSlopes& b) {
        SlopeTable& table = *(a.interned() == nullptr ? b : a).interned()->table;
        InternedSlopes& first = a.interned() == nullptr ? *table.zero() : *a.interned();
        InternedSlopes& second = b.interned() == nullptr ? *table.zero() : *b.interned();
        return {time_of(a), table.steepest(first, second)};
    }

    /// The time and the address, in one vector register: it is copied as one piece, and reading in one piece what was
    /// written in two stalls on store forwarding.
    Words words_ = {};
};

/// Differentiates the simulation as `Differentiation` does, with moments that share their slopes: for runs with few
/// different slopes. Throws TooManySlopes in other runs. The moments of a run are valid as long as this object.
class SharedDifferentiation : public NoRecording {
  public:
    using Moment = SharedSlopes;
    using Annotation = const SlopeStep*;

    /// `with_c`: whether sends end after their CPU time on some level of the machine.
    explicit SharedDifferentiation(bool with_c = true) : table_(with_c) {}

    struct Payload : Message {
        InternedSlopes* sent = nullptr;  ///< the slopes of the arrival

        Payload() = default;
        Payload(const Message& message, Annotation step) : Message(message), sent(step->message) {}
    };

    struct ActivityRef {
        const SlopeStep* step;
    };

    static constexpr bool observes = true;
    static constexpr bool needs_lookahead = true;  ///< as Differentiation<1> does

    [[gnu::always_inline]] ActivityRef begin(std::uint32_t /*rank*/, const Moment& now, const Activity& activity,
                                             MessageCount& messages) {
        if (is_one_sided(activity.message)) [[unlikely]] {
            throw TooManySlopes();  // the steps of one-sided operations are not in the table
        }
        return {&table_.step(now.interned() == nullptr ? *table_.zero() : *now.interned(), activity, messages)};
    }
    [[gnu::always_inline]] static Moment at(const ActivityRef& ref, Point point, Time time) {
        switch (point) {
            case Point::sender_gap:
            case Point::receiver_gap:
                return {time, ref.step->nic};
            case Point::arrival:
            case Point::last_byte:
                return {time, ref.step->message};
            case Point::completed:
                return {time, ref.step->completion};
            case Point::start:
            case Point::sender_free:
            case Point::handed_over:
            case Point::receiver_free:
            case Point::computed:
            case Point::posted:
            case Point::acknowledged:
                break;
        }
        return {time, ref.step->cpu};
    }
    [[gnu::always_inline]] static Annotation annotate(const ActivityRef& ref) { return ref.step; }
    [[gnu::always_inline]] static Annotation acknowledge(const ActivityRef& ref, const Moment& /*landed*/,
                                                         machine::LevelKind /*level*/) {
        return ref.step;  // never asked: `begin` has refused one-sided operations
    }
    [[gnu::always_inline]] static Moment arrival(const Payload& message, Time time) { return {time, message.sent}; }

    /// Of the messages that a step sends, those of one class have a code: the class of the first of them. Most often
    /// all messages of a step have that class.
    [[gnu::always_inline]] std::uint16_t code(const Message& message, Annotation sent) {
        const std::uint32_t known = sent->code.load(std::memory_order_acquire);
        if (known >> 16 == message.message_class) [[likely]] {
            return static_cast<std::uint16_t>(known);
        }
        return known == SlopeStep::no_code ? add_code(message, sent) : Message::no_class;
    }
    [[nodiscard]] const Payload& payload(std::uint16_t code) const { return coded_[code]; }

  private:
    /// A message without a code travels as a whole payload. This many codes take less than a huge page, which would
    /// have to be cleared.
    static constexpr std::uint16_t most_codes = 1 << 14;
    static_assert(most_codes * sizeof(Payload) < smallest_huge_memory);

    [[gnu::noinline]] std::uint16_t add_code(const Message& message, Annotation sent) {
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
    std::mutex mutex_;  ///< protects `coded_` and `codes_` while a code is added; an entry never changes
};

}  // namespace idlewave::loggops
