#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "base/time.hpp"
#include "loggops/observer.hpp"

namespace idlewave::loggops {

/// The derivatives of a time by the parameters of one level of the network: how often each parameter counts in it.
struct LevelSlopes {
    std::uint32_t L = 0;
    std::uint32_t o_s = 0;
    std::uint32_t o_r = 0;
    std::uint32_t o = 0;  ///< o_s and o_r growing together: below their sum where each alone delays another of two ties
    std::uint32_t g = 0;
    std::uint64_t G = 0;    ///< bytes
    std::uint64_t O = 0;    ///< bytes: O_s and O_r growing together, as o
    std::uint64_t O_s = 0;  ///< bytes
    std::uint64_t O_r = 0;  ///< bytes
    std::uint32_t c = 0;
    std::uint32_t o_p = 0;

    bool operator==(const LevelSlopes&) const = default;
};

/// Two words that are read, added and written as one: each read then is of the piece that was written (store
/// forwarding). They are aligned as one word is, so that what holds them has no padding.
struct SlopeWordPair {
    using Words [[gnu::vector_size(16), gnu::aligned(8)]] = std::uint64_t;

    Words words = {};

    std::uint64_t operator[](std::size_t i) const { return words[i]; }
    SlopeWordPair& operator+=(const SlopeWordPair& more) {
        words += more.words;
        return *this;
    }
    SlopeWordPair& operator|=(const SlopeWordPair& more) {
        words |= more.words;
        return *this;
    }
    friend SlopeWordPair operator^(const SlopeWordPair& a, const SlopeWordPair& b) { return {a.words ^ b.words}; }
};
static_assert(alignof(SlopeWordPair) == alignof(std::uint64_t));

/// A time and its derivatives to the right by each parameter. Of two moments at one time, the one that a growing
/// parameter delays more decides about everything that waits for both: so `latest` takes the larger derivative.
/// Slopes are copied byte by byte with a rank that is rolled back or that migrates. Without `Posting` they have no o_p,
/// for machines on which receives do not take the CPU: a moment is then smaller by a pair of words.
template <unsigned Levels, bool Posting = true>
struct Slopes {
    static constexpr std::size_t pairs = Posting ? 5 : 4;

    /// For each level (L and o_s, o_r and o), (g and c, G), (O, and in the first level the computation), (O_s, O_r),
    /// and with `Posting` (o_p, nothing).
    std::array<SlopeWordPair, pairs * Levels> words = {};
    Time time = 0;

    [[nodiscard]] LevelSlopes level(unsigned i) const {
        const SlopeWordPair* w = &words[pairs * i];
        const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
        const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
        return {.L = low(w[0][0]),
                .o_s = high(w[0][0]),
                .o_r = low(w[0][1]),
                .o = high(w[0][1]),
                .g = low(w[1][0]),
                .G = w[1][1],
                .O = w[2][0],
                .O_s = w[3][0],
                .O_r = w[3][1],
                .c = high(w[1][0]),
                .o_p = Posting ? low(w[pairs - 1][0]) : 0};
    }

    /// The derivative by a common factor of all calcs: the picoseconds of calcs in this time.
    [[nodiscard]] Time computation() const { return static_cast<Time>(words[2][1]); }

    /// Adds the counts of one level.
    [[gnu::always_inline]] void add(unsigned level, const LevelSlopes& more) {
        SlopeWordPair* w = &words[pairs * level];
        w[0] += SlopeWordPair{{more.L | std::uint64_t{more.o_s} << 32, more.o_r | std::uint64_t{more.o} << 32}};
        w[1] += SlopeWordPair{{more.g | std::uint64_t{more.c} << 32, more.G}};
        w[2] += SlopeWordPair{{more.O, 0}};
        w[3] += SlopeWordPair{{more.O_s, more.O_r}};
        if constexpr (Posting) {
            w[4] += SlopeWordPair{{more.o_p, 0}};
        }
    }

    friend Time time_of(const Slopes& moment) { return moment.time; }
    [[gnu::always_inline]] friend bool same(const Slopes& a, const Slopes& b) {
        return a.time == b.time && a.has_slopes_of(b);
    }

    [[gnu::always_inline]] friend Slopes latest(const Slopes& a, const Slopes& b) {
        if (a.time != b.time) [[likely]] {
            return a.time < b.time ? b : a;
        }
        return a.has_slopes_of(b) ? a : steepest(a, b);
    }
    /// The latest of three. Most often one of them is later than the others, and only that one is copied.
    [[gnu::always_inline]] friend Slopes latest(const Slopes& a, const Slopes& b, const Slopes& c) {
        const Slopes& last = a.time < b.time ? b : a;
        const Slopes& other = a.time < b.time ? a : b;
        if (c.time > last.time) {
            return c;
        }
        if (other.time < last.time && c.time < last.time) {
            return last;
        }
        return latest(latest(a, b), c);
    }

    /// Two moments at one time often have the same slopes, since both follow from one event.
    [[nodiscard, gnu::always_inline]] bool has_slopes_of(const Slopes& other) const {
        SlopeWordPair differ = {};
        for (std::size_t i = 0; i < words.size(); ++i) {
            differ |= words[i] ^ other.words[i];
        }
        return (differ[0] | differ[1]) == 0;
    }

    /// The steepest of two moments at one time.
    [[gnu::noinline]] static Slopes steepest(const Slopes& a, const Slopes& b) {
        Slopes both;
        both.time = a.time;
        both.words[2] = SlopeWordPair{{0, std::max(a.words[2][1], b.words[2][1])}};
        for (unsigned i = 0; i < Levels; ++i) {
            const LevelSlopes x = a.level(i);
            const LevelSlopes y = b.level(i);
            both.add(i, {std::max(x.L, y.L), std::max(x.o_s, y.o_s), std::max(x.o_r, y.o_r), std::max(x.o, y.o),
                         std::max(x.g, y.g), std::max(x.G, y.G), std::max(x.O, y.O), std::max(x.O_s, y.O_s),
                         std::max(x.O_r, y.O_r), std::max(x.c, y.c), std::max(x.o_p, y.o_p)});
        }
        return both;
    }
};

/// The levels that a machine may have (machine::LevelKind).
inline constexpr unsigned all_levels = 4;
using AllSlopes = Slopes<all_levels>;

/// The observer that differentiates the simulation by its parameters while it runs: every moment carries its slopes.
/// `Levels` is 1 for a machine that has one network alone, else `all_levels`; without `Posting` the machine has no o_p.
template <unsigned Levels, bool Posting = true>
struct Differentiation : NoRecording {
    using Moment = Slopes<Levels, Posting>;

    struct Payload : Message {
        Moment sent = {};  ///< the slopes of the arrival

        Payload() = default;
        /// Copies field by field: reading in one piece what was just written in small ones stalls on store forwarding.
        [[gnu::always_inline]] Payload(const Message& message, const Moment& arrival) : sent(arrival) {
            size = message.size;
            tag = message.tag;  // or the rendezvous id, in the same memory
            sender_handle = message.sender_handle;
            receiver_handle = message.receiver_handle;
            message_class = message.message_class;
            kind = message.kind;
        }
    };

    struct ActivityRef {
        const Moment& now;
        std::uint64_t amount;  ///< of the Activity
        unsigned level;
        ActivityKind kind;
        bool in_detour;  ///< of the Activity, as the next
        bool bytes_in_detour;
    };

    using Annotation = Moment;

    static constexpr bool observes = true;
    /// Machines without a lookahead are rare, and compilation long: FullDifferentiation does for them.
    static constexpr bool needs_lookahead = Levels == 1;

    [[gnu::always_inline]] static ActivityRef begin(std::uint32_t /*rank*/, const Moment& now, const Activity& activity,
                                                    MessageCount& /*messages*/) {
        const unsigned level = Levels > 1 ? static_cast<unsigned>(activity.level) : 0;
        return {now, activity.amount, level, activity.kind, activity.in_detour, activity.bytes_in_detour};
    }

    /// Work that begins inside a detour begins at the end of that detour. No parameter moves that end: the slopes are
    /// 0.
    [[gnu::always_inline]] static Moment at(const ActivityRef& ref, Point point, Time time) {
        const bool gap = point == Point::sender_gap || point == Point::receiver_gap;
        const bool bytes = point == Point::sender_free || point == Point::completed || point == Point::receiver_free;
        const bool late = bytes && ref.bytes_in_detour;
        const bool cut = late || (!gap && ref.in_detour);
        Moment moment;
        for (std::size_t i = 0; i < moment.words.size(); ++i) {
            moment.words[i] = cut ? SlopeWordPair{} : ref.now.words[i];
        }
        moment.add(ref.level, late ? cpu_bytes(ref, point) : counts(ref, point));
        if (point == Point::completed) {
            moment.add(ref.level, {.c = 1});
        }
        if (point == Point::computed) {
            moment.words[2] += SlopeWordPair{0, ref.amount};
        }
        moment.time = time;
        return moment;
    }

    /// The slopes of the message's arrival. The time travels with the event.
    [[gnu::always_inline]] static Moment annotate(const ActivityRef& ref) {
        const Moment moment = at(ref, Point::arrival, 0);
        check_counts(moment);
        return moment;
    }
    [[gnu::always_inline]] static Moment acknowledge(const ActivityRef& /*ref*/, const Moment& landed,
                                                     machine::LevelKind level) {
        Moment moment = landed;
        moment.add(Levels > 1 ? static_cast<unsigned>(level) : 0, {.L = 1});
        check_counts(moment);
        return moment;
    }
    [[gnu::always_inline]] static Moment arrival(const Payload& message, Time time) {
        Moment moment = message.sent;
        moment.time = time;
        return moment;
    }
    static std::uint16_t code(const Message& /*message*/, const Annotation& /*sent*/) { return Message::no_class; }

  private:
    /// The highest bits of the two counts in a word.
    static constexpr std::uint64_t most_counted = 0x8000000080000000;

    [[gnu::always_inline]] static void check_counts(const Moment& moment) {
        for (unsigned i = 0; i < Levels; ++i) {
            const SlopeWordPair* w = &moment.words[Moment::pairs * i];
            const std::uint64_t counts = w[0][0] | w[0][1] | w[1][0];
            if ((counts & most_counted) != 0) [[unlikely]] {
                throw InputError("more than 2^31 messages follow each other: their slopes cannot be counted");
            }
        }
    }

    static std::uint64_t bytes_of(const ActivityRef& ref) { return ref.amount > 0 ? ref.amount - 1 : 0; }

    /// What the further bytes count for in the time of a CPU.
    [[gnu::always_inline]] static LevelSlopes cpu_bytes(const ActivityRef& ref, Point point) {
        const std::uint64_t bytes = bytes_of(ref);
        return point == Point::receiver_free ? LevelSlopes{.O = bytes, .O_r = bytes}
                                             : LevelSlopes{.O = bytes, .O_s = bytes};
    }

    /// How often each parameter counts in the time from an activity's beginning to a point (docs/model.md, R5 to R8).
    [[gnu::always_inline]] static LevelSlopes counts(const ActivityRef& ref, Point point) {
        switch (point) {
            case Point::sender_free:
            case Point::completed:
                return {.o_s = 1, .o = 1, .O = bytes_of(ref), .O_s = bytes_of(ref)};
            case Point::receiver_free:
                return {.o_r = 1, .o = 1, .O = bytes_of(ref), .O_r = bytes_of(ref)};
            case Point::handed_over:
                return {.o_s = 1, .o = 1};
            case Point::posted:
                return {.o_p = 1};
            case Point::arrival:
                return ref.kind == ActivityKind::nic_transmission ? LevelSlopes{.L = 1}
                                                                  : LevelSlopes{.L = 1, .o_s = 1, .o = 1};
            case Point::last_byte:
                return ref.kind == ActivityKind::landing ? LevelSlopes{.G = bytes_of(ref)}
                                                         : LevelSlopes{.o_r = 1, .o = 1, .G = bytes_of(ref)};
            case Point::sender_gap:
            case Point::receiver_gap:
                return {.g = 1, .G = bytes_of(ref)};
            default:
                return {};
        }
    }
};

using FullDifferentiation = Differentiation<all_levels>;

}  // namespace idlewave::loggops
