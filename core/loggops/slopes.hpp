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
};

/// A time, and its derivatives: those to the right, for each parameter on its own. Where two things come at one time,
/// what waits for both is delayed by the one that a growing parameter delays more.
template <unsigned Levels>
struct Slopes {
    Time time = 0;
    Time computation = 0;  ///< ps that it holds of calcs: its derivative by a factor of their lengths
    std::array<LevelSlopes, Levels> levels = {};

    friend Time time_of(const Slopes& moment) { return moment.time; }

    friend Slopes latest(const Slopes& a, const Slopes& b) {
        if (a.time != b.time) {
            return a.time < b.time ? b : a;
        }
        Slopes both = a;
        both.computation = std::max(a.computation, b.computation);
        for (unsigned i = 0; i < Levels; ++i) {
            LevelSlopes& level = both.levels[i];
            const LevelSlopes& other = b.levels[i];
            level = {std::max(level.L, other.L), std::max(level.o_s, other.o_s), std::max(level.o_r, other.o_r),
                     std::max(level.o, other.o), std::max(level.g, other.g),     std::max(level.G, other.G),
                     std::max(level.O, other.O)};
        }
        return both;
    }
};

/// Differentiates the simulation by its parameters, while it runs: every moment carries its slopes. `Levels` is 2 if
/// the machine has a network within nodes, which then is the second.
template <unsigned Levels>
struct Differentiation {
    using Moment = Slopes<Levels>;

    struct Payload : Message {
        Moment sent = {};  ///< the arrival

        Payload() = default;
        Payload(const Message& message, const Moment& arrival) : Message(message), sent(arrival) {}
    };

    struct Begun {
        Moment now;
        Activity activity;
    };

    static constexpr bool looks = true;

    static Begun begin(std::uint32_t /*rank*/, const Moment& now, const Activity& activity) { return {now, activity}; }

    /// Work that begins inside a detour begins at that detour's end, whatever came before.
    static Moment at(const Begun& begun, Point point, Time time) {
        const Activity& activity = begun.activity;
        const bool cpu = point != Point::sender_gap && point != Point::receiver_gap;
        Moment moment = cpu && activity.stands ? Moment{} : begun.now;
        LevelSlopes& level = moment.levels[Levels > 1 && activity.within_node ? Levels - 1 : 0];
        const std::uint64_t bytes = activity.size > 0 ? activity.size - 1 : 0;
        switch (point) {
            case Point::start:
                break;
            case Point::sender_free:
                count(level.o_s);
                count(level.o);
                add_cpu_bytes(moment, level, activity, bytes);
                break;
            case Point::receiver_free:
                count(level.o_r);
                count(level.o);
                add_cpu_bytes(moment, level, activity, bytes);
                break;
            case Point::arrival:
                count(level.o_s);
                count(level.o);
                count(level.L);
                break;
            case Point::wire:
                count(level.o_r);
                count(level.o);
                level.G += bytes;
                break;
            case Point::sender_gap:
            case Point::receiver_gap:
                count(level.g);
                level.G += bytes;
                break;
            case Point::computed:
                moment.computation += static_cast<Time>(activity.size);
                break;
        }
        moment.time = time;
        return moment;
    }

    static Payload post(const Begun& begun, const Message& message) { return {message, at(begun, Point::arrival, 0)}; }
    static Moment arrival(const Payload& message, Time time) {
        Moment moment = message.sent;
        moment.time = time;
        return moment;
    }
    static void started(std::uint32_t /*rank*/, Place /*place*/, const OpStart& /*op*/, const Moment& /*ready*/,
                        const Moment& /*now*/) {}
    static void ended(std::uint32_t /*rank*/, Place /*place*/, const Moment& /*end*/) {}
    static void received(std::uint32_t /*rank*/, Place /*place*/, const Moment& /*arrived*/,
                         const Moment& /*processed*/) {}
    static void arrived(std::uint32_t /*rank*/, std::uint32_t /*posted*/, bool /*found*/) {}
    static void posted(std::uint32_t /*rank*/, std::uint32_t /*unexpected*/, bool /*found*/) {}

  private:
    static void count(std::uint32_t& times) {
        if (++times == 0) {
            throw InputError("more than 2^32 messages follow each other: their slopes cannot be counted");
        }
    }

    static void add_cpu_bytes(Moment& moment, LevelSlopes& level, const Activity& activity, std::uint64_t bytes) {
        if (activity.stands_late) {
            moment = {};
        }
        level.O += bytes;
    }
};

}  // namespace idlewave
