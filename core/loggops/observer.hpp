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
    OpIndex op_index = 0;      ///< of its op; of a reception `unknown_op_index` until its receive is known
    bool stands = false;       ///< a detour holds the CPU when it begins
    bool stands_late = false;  ///< a detour holds the CPU when its overhead is done, and the bytes' time begins
};

/// The times that follow from when an activity begins (docs/model.md, "The rank").
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

/// How many messages a thread has sent, and how many of them an observer has counted.
struct MessageCount {
    std::uint64_t sent = 0;
    std::uint64_t counted = 0;
};

/// That part of an observer which is about who writes down what happens; this one does not. It is told of:
/// - `started`, `ended`: an op. `received`: the message of a receive is processed, which had `arrived`; what came by
///   rendezvous was announced when it `arrived`.
/// - `arrived`, `posted`: a message looked for its receive among those that were posted, a receive for its message
///   among those that were unexpected; how many there were, and whether it found one.
struct RecordsNothing {
    static constexpr bool records = false;

    template <class Moment>
    static void started(std::uint32_t /*rank*/, OpIndex /*op_index*/, const OpStart& /*op*/, const Moment& /*ready*/,
                        const Moment& /*now*/) {}
    template <class Moment>
    static void ended(std::uint32_t /*rank*/, OpIndex /*op_index*/, const Moment& /*end*/) {}
    template <class Moment>
    static void received(std::uint32_t /*rank*/, OpIndex /*op_index*/, const Moment& /*arrived*/,
                         const Moment& /*came*/, const Moment& /*processed*/) {}
    static void arrived(std::uint32_t /*rank*/, std::uint32_t /*posted*/, bool /*found*/) {}
    static void posted(std::uint32_t /*rank*/, std::uint32_t /*unexpected*/, bool /*found*/) {}
};

/// Looks on while ranks are simulated: decides what a moment knows beside its time, and what a message carries along.
/// It is shared by all threads, each of which tells it of other ranks. This one knows nothing, and costs nothing; it
/// says what there is:
/// - `begin`: a rank begins something at `now`; returns what `at` is to be asked with. `messages`: of its thread.
/// - `at`: the moment of one of its points, of which the time is known.
/// - `post`: what a message carries, beside itself; `arrival`: the moment at which it has arrived.
/// - `code`: the number by which a message and what it carries are known, so that only that number travels; or
///   Message::no_class. Where there are such numbers, `payload` is what one stands for; here it is the message_class.
/// - what a RecordsNothing is told.
/// A moment has a time, `time_of`; of two there is the `latest`; and they may be the `same` in all that they know.
struct Unobserved : RecordsNothing {
    using Moment = Time;
    using Payload = Message;
    struct Begun {};
    struct Sent {};

    static constexpr bool looks = false;  ///< whether it wants to know of anything

    static Begun begin(std::uint32_t /*rank*/, Time /*now*/, const Activity& /*activity*/, MessageCount& /*messages*/) {
        return {};
    }
    static Time at(const Begun& /*begun*/, Point /*point*/, Time time) { return time; }
    static Sent post(const Begun& /*begun*/) { return {}; }
    static Time arrival(const Message& /*message*/, Time time) { return time; }
    static std::uint16_t code(const Message& message, const Sent& /*sent*/) { return message.message_class; }
};

}  // namespace idlewave
