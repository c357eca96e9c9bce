#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "loggops/observer.hpp"

namespace idlewave {

/// Why a time is what it is: a point of what some rank did. Zero bytes: the beginning of everything.
struct Cause {
    std::uint32_t rank = 0;
    std::uint32_t index : 29 = 0;  ///< among what the rank did
    Point point : 3 = Point::start;

    static constexpr std::uint32_t most = 1U << 29;

    /// Whether it is anything but the beginning.
    [[nodiscard]] bool known() const { return point != Point::start; }
};

/// A time and its cause. Of two at one time the first that was asked for counts.
struct Caused {
    Time time = 0;
    Cause cause = {};

    friend Time time_of(const Caused& moment) { return moment.time; }
    friend Caused latest(const Caused& a, const Caused& b) { return a.time < b.time ? b : a; }
};

/// Something that a rank did.
struct ActivityRecord {
    Activity activity = {};
    Caused start = {};
    Time free = 0;  ///< the CPU, afterwards
};

/// One op that has run.
struct OpRecord {
    std::uint32_t rank = 0;
    Place place = 0;
    OpKind kind = OpKind::calc;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint64_t size = 0;
    std::uint16_t call = 0;
    Caused ready = {};  ///< its requirements were met
    Caused start = {};
    Caused end = {};
    Caused arrived = {};    ///< of a receive: its message, or the request for a rendezvous
    Caused processed = {};  ///< of a receive: its message
};

/// The queues in which a rank's messages and receives look for each other.
struct QueueRecord {
    std::uint64_t arrivals = 0;        ///< messages that looked for a receive
    std::uint64_t unexpected = 0;      ///< those that found none
    std::uint64_t posted_lengths = 0;  ///< the sum of how many receives were posted then
    std::uint32_t most_posted = 0;
    std::uint64_t receives = 0;            ///< that looked for a message
    std::uint64_t late = 0;                ///< those that found it there
    std::uint64_t unexpected_lengths = 0;  ///< the sum of how many messages were unexpected then
    std::uint32_t most_unexpected = 0;
};

/// All that the ranks of a simulation did, each in the order in which it did it.
struct Record {
    std::vector<std::vector<OpRecord>> ops;               ///< by rank and place
    std::vector<std::vector<ActivityRecord>> activities;  ///< by rank and index
    std::vector<QueueRecord> queues;                      ///< by rank
};

/// Writes down all that ranks do, and what made it happen when it did.
class Recorder {
  public:
    using Moment = Caused;

    struct Payload : Message {
        Cause sent = {};

        Payload() = default;
        Payload(const Message& message, Cause cause) : Message(message), sent(cause) {}
    };

    struct Begun {
        std::uint32_t rank;
        std::uint32_t index;
    };

    static constexpr bool looks = true;

    explicit Recorder(std::uint32_t ranks) {
        record_.ops.resize(ranks);
        record_.activities.resize(ranks);
        record_.queues.resize(ranks);
    }

    Begun begin(std::uint32_t rank, const Caused& now, const Activity& activity) {
        std::vector<ActivityRecord>& own = record_.activities[rank];
        if (own.size() == Cause::most) {
            throw InputError("a rank does more than 2^29 things: too many to be recorded");
        }
        own.push_back({activity, now, now.time});
        return {rank, static_cast<std::uint32_t>(own.size() - 1)};
    }
    Caused at(const Begun& begun, Point point, Time time) {
        if (point == Point::sender_free || point == Point::receiver_free || point == Point::computed) {
            record_.activities[begun.rank][begun.index].free = time;
        }
        return {time, cause_of(begun, point)};
    }
    static Payload post(const Begun& begun, const Message& message) {
        return {message, cause_of(begun, Point::arrival)};
    }
    static Caused arrival(const Payload& message, Time time) { return {time, message.sent}; }

    void started(std::uint32_t rank, Place place, const OpStart& op, const Caused& ready, const Caused& now) {
        std::vector<OpRecord>& own = record_.ops[rank];
        if (own.size() <= place) {
            own.resize(std::size_t{place} + 1);
        }
        own[place] = {rank, place, op.kind, op.peer, op.tag, op.size, op.call, ready, now, now};
    }
    void ended(std::uint32_t rank, Place place, const Caused& end) { record_.ops[rank][place].end = end; }
    void received(std::uint32_t rank, Place place, const Caused& arrived, const Caused& processed) {
        OpRecord& op = record_.ops[rank][place];
        op.arrived = arrived;
        op.processed = processed;
        record_.activities[rank][processed.cause.index].activity.place = place;
    }

    void arrived(std::uint32_t rank, std::uint32_t posted, bool found) {
        QueueRecord& own = record_.queues[rank];
        ++own.arrivals;
        own.unexpected += found ? 0 : 1;
        own.posted_lengths += posted;
        own.most_posted = std::max(own.most_posted, posted);
    }
    void posted(std::uint32_t rank, std::uint32_t unexpected, bool found) {
        QueueRecord& own = record_.queues[rank];
        ++own.receives;
        own.late += found ? 1 : 0;
        own.unexpected_lengths += unexpected;
        own.most_unexpected = std::max(own.most_unexpected, unexpected);
    }

    [[nodiscard]] Record take() { return std::move(record_); }

  private:
    static Cause cause_of(const Begun& begun, Point point) {
        Cause cause;
        cause.rank = begun.rank;
        cause.index = begun.index & (Cause::most - 1);
        cause.point = point;
        return cause;
    }

    Record record_;
};

}  // namespace idlewave
