#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.hpp"
#include "base/time.hpp"
#include "loggops/observer.hpp"

namespace idlewave {

/// How a time grows with the parameters of one level of the network: how often each counts in it.
struct LevelSlopes {
    std::uint32_t L = 0;
    std::uint32_t o_s = 0;
    std::uint32_t o_r = 0;
    std::uint32_t o = 0;  ///< o_s and o_r growing together: less than their sum where either alone delays one of two
    std::uint32_t g = 0;
    std::uint64_t G = 0;  ///< bytes
    std::uint64_t O = 0;  ///< bytes

    bool operator==(const LevelSlopes&) const = default;
};

/// Two words that are copied and added together. Slopes are copied more often than anything else is done with them: in
/// pieces of one size, so that what is read was written in one piece.
using SlopeWords = std::uint64_t __attribute__((vector_size(16)));

/// A time, and its derivatives: those to the right, for each parameter on its own. Where two things come at one time,
/// what waits for both is delayed by the one that a growing parameter delays more.
template <unsigned Levels>
struct Slopes {
    /// For each level (o_s and L, o and o_r), (g, G), (O, and of the first level the computation).
    std::array<SlopeWords, std::size_t{3} * Levels> words = {};
    Time time = 0;

    // A compiler's own copy of so many bytes may be a string instruction, which takes longer to begin than this takes.
    Slopes() = default;
    [[gnu::always_inline]] Slopes(const Slopes& other) : time(other.time) { copy(other); }
    [[gnu::always_inline]] Slopes& operator=(const Slopes& other) {
        time = other.time;
        copy(other);
        return *this;
    }
    ~Slopes() = default;

    [[nodiscard]] LevelSlopes level(unsigned i) const {
        const SlopeWords* w = &words[std::size_t{3} * i];
        const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
        const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
        return {.L = low(w[0][0]),
                .o_s = high(w[0][0]),
                .o_r = low(w[0][1]),
                .o = high(w[0][1]),
                .g = low(w[1][0]),
                .G = w[1][1],
                .O = w[2][0]};
    }

    /// ps that it holds of calcs: its derivative by a factor of their lengths.
    [[nodiscard]] Time computation() const { return static_cast<Time>(words[2][1]); }

    /// Adds counts of one level.
    [[gnu::always_inline]] void add(unsigned level, const LevelSlopes& more) {
        SlopeWords* w = &words[std::size_t{3} * level];
        w[0] += SlopeWords{more.L | std::uint64_t{more.o_s} << 32, more.o_r | std::uint64_t{more.o} << 32};
        w[1] += SlopeWords{more.g, more.G};
        w[2] += SlopeWords{more.O, 0};
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
    /// Of three; most often one comes last, and only that is copied.
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

    /// What comes at one time is often the same thing, known by two names.
    [[nodiscard, gnu::always_inline]] bool has_slopes_of(const Slopes& other) const {
        SlopeWords differ = {};
        for (std::size_t i = 0; i < words.size(); ++i) {
            differ |= words[i] ^ other.words[i];
        }
        return (differ[0] | differ[1]) == 0;
    }

    /// Of two at one time.
    [[gnu::noinline]] static Slopes steepest(const Slopes& a, const Slopes& b) {
        Slopes both;
        both.time = a.time;
        both.words[2] = SlopeWords{0, std::max(a.words[2][1], b.words[2][1])};
        for (unsigned i = 0; i < Levels; ++i) {
            const LevelSlopes x = a.level(i);
            const LevelSlopes y = b.level(i);
            both.add(i, {std::max(x.L, y.L), std::max(x.o_s, y.o_s), std::max(x.o_r, y.o_r), std::max(x.o, y.o),
                         std::max(x.g, y.g), std::max(x.G, y.G), std::max(x.O, y.O)});
        }
        return both;
    }

  private:
    [[gnu::always_inline]] void copy(const Slopes& other) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = other.words[i];
        }
    }
};

/// Differentiates the simulation by its parameters, while it runs: every moment carries its slopes. `Levels` is 2 if
/// the machine has a network within nodes, which then is the second.
template <unsigned Levels>
struct Differentiation : RecordsNothing {
    using Moment = Slopes<Levels>;

    struct Payload : Message {
        Moment sent = {};  ///< the arrival

        Payload() = default;
        /// Field by field: what was just written in small pieces would be read in a large one only after a delay.
        [[gnu::always_inline]] Payload(const Message& message, const Moment& arrival) : sent(arrival) {
            size = message.size;
            tag = message.tag;
            sending = message.sending;
            receiving = message.receiving;
            message_class = message.message_class;
            kind = message.kind;
        }
    };

    struct Begun {
        const Moment& now;
        std::uint64_t size;  ///< bytes; of a computation ps
        unsigned level;
        bool stands;  ///< as of the Activity
        bool stands_late;
    };

    using Sent = Moment;

    static constexpr bool looks = true;

    [[gnu::always_inline]] static Begun begin(std::uint32_t /*rank*/, const Moment& now, const Activity& activity,
                                              MessageCount& /*messages*/) {
        const unsigned level = Levels > 1 && activity.within_node ? Levels - 1 : 0;
        return {now, activity.size, level, activity.stands, activity.stands_late};
    }

    /// Work that begins inside a detour begins at that detour's end, whatever came before.
    [[gnu::always_inline]] static Moment at(const Begun& begun, Point point, Time time) {
        const bool gap = point == Point::sender_gap || point == Point::receiver_gap;
        const bool bytes = point == Point::sender_free || point == Point::receiver_free;
        const bool late = bytes && begun.stands_late;
        const bool cut = late || (!gap && begun.stands);
        Moment moment;
        for (std::size_t i = 0; i < moment.words.size(); ++i) {
            moment.words[i] = cut ? SlopeWords{} : begun.now.words[i];
        }
        moment.add(begun.level, late ? LevelSlopes{.O = bytes_of(begun)} : counts(begun, point));
        if (point == Point::computed) {
            moment.words[2] += SlopeWords{0, begun.size};
        }
        moment.time = time;
        return moment;
    }

    /// What a message carries: the moment of its arrival, but for the time.
    [[gnu::always_inline]] static Moment post(const Begun& begun) {
        const Moment moment = at(begun, Point::arrival, 0);
        for (unsigned i = 0; i < Levels; ++i) {
            const std::uint64_t counts = moment.words[std::size_t{3} * i][0] | moment.words[std::size_t{3} * i][1];
            if ((counts & most_counted) != 0) [[unlikely]] {
                throw InputError("more than 2^31 messages follow each other: their slopes cannot be counted");
            }
        }
        return moment;
    }
    [[gnu::always_inline]] static Moment arrival(const Payload& message, Time time) {
        Moment moment = message.sent;
        moment.time = time;
        return moment;
    }
    static std::uint16_t code(const Message& /*message*/, const Sent& /*sent*/) { return Message::no_class; }

  private:
    /// The highest bits of two counts in a word.
    static constexpr std::uint64_t most_counted = 0x8000000080000000;

    static std::uint64_t bytes_of(const Begun& begun) { return begun.size > 0 ? begun.size - 1 : 0; }

    /// What the time from an activity's start to a point holds (docs/model.md, "The rank").
    [[gnu::always_inline]] static LevelSlopes counts(const Begun& begun, Point point) {
        switch (point) {
            case Point::sender_free:
                return {.o_s = 1, .o = 1, .O = bytes_of(begun)};
            case Point::receiver_free:
                return {.o_r = 1, .o = 1, .O = bytes_of(begun)};
            case Point::arrival:
                return {.L = 1, .o_s = 1, .o = 1};
            case Point::wire:
                return {.o_r = 1, .o = 1, .G = bytes_of(begun)};
            case Point::sender_gap:
            case Point::receiver_gap:
                return {.g = 1, .G = bytes_of(begun)};
            default:
                return {};
        }
    }
};

}  // namespace idlewave
