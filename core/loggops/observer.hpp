#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "loggops/message.hpp"

namespace idlewave {

/// What a rank does that takes time.
enum class Doing : std::uint8_t { computation, transmission, reception };

/// One thing that a rank does: all that its duration depends on, and whose it is.
struct Activity {
    Doing doing = Doing::computation;
    MessageKind message = MessageKind::data;
    bool within_node = false;
    std::uint32_t peer = 0;
    std::uint64_t size = 0;    ///< bytes on the wire; of a computation ps
    Place place = 0;           ///< of its op; of a reception `unknown_place` until its receive is known
    bool stands = false;       ///< a detour holds the CPU when it begins
    bool stands_late = false;  ///< a detour holds the CPU when its overhead is done, and the bytes' time begins
};
inline constexpr Place unknown_place = 0xffffffff;

/// The times that follow from when an activity begins (SEMANTICS.md, "Rank").
enum class Point : std::uint8_t {
    start,          ///< itself
    sender_free,    ///< the CPU, after o_s + kO
    sender_gap,     ///< the NIC's send side, after g + kG
    arrival,        ///< of the first byte, after o_s + L
    receiver_free,  ///< the CPU, after o_r + kO
    wire,           ///< the last byte is here, after o_r + kG
    receiver_gap,   ///< the NIC's receive side, after g + kG
    computed        ///< after the work
};

/// What is known of an op when it starts.
struct OpStart {
    OpKind kind = OpKind::calc;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint64_t size = 0;
    std::uint16_t call = 0;  ///< the number of the operation that it belongs to (call_name.hpp)
};

/// Looks on while ranks are simulated: decides what a moment knows beside its time, and what a message carries along.
/// It is shared by all threads, each of which tells it of other ranks. This one knows nothing, and costs nothing; it
/// says what there is:
/// - `begin`: a rank begins something at `now`; returns what `at` is to be asked with.
/// - `at`: the moment of one of its points, of which the time is known.
/// - `post`: what a message carries, beside itself; `arrival`: the moment at which it has arrived.
/// - `started`, `ended`: of an op. `received`: the message of a receive is processed, which had `arrived`; what came by
///   rendezvous was announced when it `arrived`.
/// - `arrived`, `posted`: a message looked for its receive among those that were posted, a receive for its message
///   among those that were unexpected; how many there were, and whether it found one.
struct Unobserved {
    using Moment = Time;
    using Payload = Message;
    struct Begun {};
    struct Sent {};

    static constexpr bool looks = false;    ///< whether it wants to know of anything
    static constexpr bool records = false;  ///< whether it is told of ops and queues

    static Begun begin(std::uint32_t /*rank*/, Time /*now*/, const Activity& /*activity*/) { return {}; }
    static Time at(const Begun& /*begun*/, Point /*point*/, Time time) { return time; }
    static Sent post(const Begun& /*begun*/) { return {}; }
    static Time arrival(const Message& /*message*/, Time time) { return time; }
    static void started(std::uint32_t /*rank*/, Place /*place*/, const OpStart& /*op*/, Time /*ready*/, Time /*now*/) {}
    static void ended(std::uint32_t /*rank*/, Place /*place*/, Time /*end*/) {}
    static void received(std::uint32_t /*rank*/, Place /*place*/, Time /*arrived*/, Time /*came*/, Time /*processed*/) {
    }
    static void arrived(std::uint32_t /*rank*/, std::uint32_t /*posted*/, bool /*found*/) {}
    static void posted(std::uint32_t /*rank*/, std::uint32_t /*unexpected*/, bool /*found*/) {}
};

}  // namespace idlewave
