#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "loggops/message.hpp"
#include "machine/machine.hpp"

namespace idlewave::loggops {

/// The activities of a rank that take time.
enum class ActivityKind : std::uint8_t {
    computation,
    transmission,
    reception,
    posting,
    initiation,       ///< a CPU hands the transmission of a one-sided operation to the NIC (docs/model.md, R23)
    landing,          ///< a reception by the NIC alone (R23)
    nic_transmission  ///< a transmission by the NIC alone (R23)
};

/// One activity of a rank: the op that it belongs to, and everything that its duration depends on.
struct Activity {
    ActivityKind kind = ActivityKind::computation;
    MessageKind message = MessageKind::data;
    machine::LevelKind level = machine::LevelKind::network;
    std::uint32_t peer = 0;
    std::uint64_t amount = 0;      ///< bytes on the wire of a message; picoseconds of a computation
    goal::OpIndex op_index = 0;    ///< its op; `unknown_op_index` for a reception whose receive is not known yet
    bool in_detour = false;        ///< a detour holds the CPU when the activity begins
    bool bytes_in_detour = false;  ///< a detour holds the CPU when the overhead is done and the bytes' time begins
};

/// The times that follow from the beginning of an activity (docs/model.md, R5 to R8, R23).
enum class Point : std::uint8_t {
    start,          ///< the beginning itself
    sender_free,    ///< the sender's CPU is free, after o_s + kO
    handed_over,    ///< the NIC has the transmission of a one-sided operation, after o_s
    sender_gap,     ///< the NIC's send side is free, after g + kG
    arrival,        ///< the first byte arrives, after o_s + L, or L of a NIC's transmission
    receiver_free,  ///< the receiver's CPU is free, after o_r + kO
    last_byte,      ///< the last byte has arrived, after o_r + kG, or kG of a landing
    receiver_gap,   ///< the NIC's receive side is free, after g + kG
    computed,       ///< the CPU is free after the computation
    completed,      ///< the send ends, c after the sender's CPU is free
    posted,         ///< the CPU is free after it has posted a receive
    acknowledged    ///< an acknowledgement arrives, L after the message has landed
};

/// The description of an op that starts, for a recording.
struct OpStart {
    goal::OpKind kind = goal::OpKind::calc;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint64_t size = 0;
    std::uint16_t call = 0;  ///< number of the operation that the op belongs to (call_name.hpp)
};

/// The number of messages that a thread has sent, and how many of these an observer has counted already.
struct MessageCount {
    std::uint64_t sent = 0;
    std::uint64_t counted = 0;
};

/// The recording half of an observer. This implementation records nothing. The simulation calls
/// - `started` and `ended` for each op;
/// - `received` when the message of a receive is processed: `arrived` is the arrival of the message or, for a
///   rendezvous, of its request to send; `data_arrived` is the arrival of the message or of the rendezvous data;
/// - `transmitted` when a NIC begins the transmission of a one-sided op, which it has since `handed_over`;
/// - `arrived` when a message searches the posted receive queue, with the queue's length and whether it found a match;
/// - `posted` when a receive searches the unexpected message queue, with that queue's length and whether it found one.
struct NoRecording {
    static constexpr bool records = false;

    template <class Moment>
    static void started(std::uint32_t /*rank*/, goal::OpIndex /*op_index*/, const OpStart& /*op*/,
                        const Moment& /*ready*/, const Moment& /*now*/) {}
    template <class Moment>
    static void ended(std::uint32_t /*rank*/, goal::OpIndex /*op_index*/, const Moment& /*end*/) {}
    template <class Moment>
    static void received(std::uint32_t /*rank*/, goal::OpIndex /*op_index*/, const Moment& /*arrived*/,
                         const Moment& /*data_arrived*/, const Moment& /*processed*/) {}
    template <class Moment>
    static void transmitted(std::uint32_t /*rank*/, goal::OpIndex /*op_index*/, Time /*handed_over*/,
                            const Moment& /*begun*/) {}
    static void arrived(std::uint32_t /*rank*/, std::uint32_t /*posted*/, bool /*found*/) {}
    static void posted(std::uint32_t /*rank*/, std::uint32_t /*unexpected*/, bool /*found*/) {}
};

/// An observer attaches data to simulated times. A *moment* is a simulated time together with these data: its cause
/// (Recorder), its derivatives (Differentiation), or nothing, as here. All threads share one observer; each thread
/// calls it for its own ranks. An observer offers
/// - `begin`: a rank begins an activity at `now`. Returns a reference for `at`. `messages` counts those of the thread.
/// - `at`: the moment of one point of that activity. Its time is given.
/// - `annotate`: the data that the message of a transmission carries; `arrival`: the moment of the message's arrival.
/// - `acknowledge`: the data of an acknowledgement, from the moment at which a message has landed; its L is that of a
///   level.
/// - `code`: a number that stands for a message and its annotation, so that only the number travels; or
///   Message::no_class, which only observers return whose moments hold more than a time. An observer that has such
///   numbers also has `payload(code)`. Here it is the message class.
/// - the functions of NoRecording.
/// Moments have `time_of`, `latest` of two, and `same`: equal in time and in data.
struct NoObserver : NoRecording {
    using Moment = Time;
    using Payload = Message;
    struct ActivityRef {};
    struct Annotation {};

    static constexpr bool observes = false;  ///< whether a moment holds more than a time

    static ActivityRef begin(std::uint32_t /*rank*/, Time /*now*/, const Activity& /*activity*/,
                             MessageCount& /*messages*/) {
        return {};
    }
    static Time at(const ActivityRef& /*ref*/, Point /*point*/, Time time) { return time; }
    static Annotation annotate(const ActivityRef& /*ref*/) { return {}; }
    static Annotation acknowledge(const ActivityRef& /*ref*/, Time /*landed*/, machine::LevelKind /*level*/) {
        return {};
    }
    static Time arrival(const Message& /*message*/, Time time) { return time; }
    static std::uint16_t code(const Message& message, const Annotation& /*annotation*/) {
        return message.message_class;
    }
};

}  // namespace idlewave::loggops
