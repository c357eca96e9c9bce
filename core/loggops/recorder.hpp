#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/small_map.hpp"
#include "base/time.hpp"
#include "loggops/observer.hpp"

namespace idlewave {

/// Why a time is what it is: a point of what some rank did. Zero bytes: the beginning of everything.
struct Cause {
    std::uint32_t rank = 0;
    std::uint32_t index : 29 = 0;  ///< among what the rank did
    Point point : 3 = Point::start;

    static constexpr std::uint32_t most = (1U << 29) - 1;
    static constexpr std::uint32_t unrecorded = most;

    /// Whether it is anything but the beginning.
    [[nodiscard]] bool known() const { return point != Point::start; }
    /// Whether what the rank did is in the record.
    [[nodiscard]] bool recorded() const { return known() && index != unrecorded; }
};

/// A time and its cause. Of two at one time the first that was asked for counts.
struct Caused {
    Time time = 0;
    Cause cause = {};

    friend Time time_of(const Caused& moment) { return moment.time; }
    friend Caused latest(const Caused& a, const Caused& b) { return a.time < b.time ? b : a; }
    friend bool same(const Caused& a, const Caused& b) {
        return a.time == b.time && a.cause.rank == b.cause.rank && a.cause.index == b.cause.index &&
               a.cause.point == b.cause.point;
    }
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
    OpIndex op_index = 0;
    OpKind kind = OpKind::calc;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint64_t size = 0;
    std::uint16_t call = 0;
    Caused ready = {};  ///< its requirements were met
    Caused start = {};
    Caused end = {};
    Caused arrived = {};    ///< of a receive: its message, or the request for a rendezvous
    Caused came = {};       ///< of a receive: its message, or the data of a rendezvous
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

/// What is to be recorded: of ranks from `first` to `last`, the ops that start from `from` on and before `until`, and
/// what else begins then; and how many bytes these rows may take. Queues are those of the whole simulation.
struct Recording {
    std::uint32_t first = 0;
    std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
    Time from = 0;
    Time until = never;
    std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] bool holds(std::uint32_t rank, Time begin) const {
        return rank >= first && rank <= last && begin >= from && begin < until;
    }
};

/// All that the ranks of a simulation did, each in the order in which it did it.
struct Record {
    std::vector<std::vector<OpRecord>> ops;               ///< by rank, ascending by op_index
    std::vector<std::vector<ActivityRecord>> activities;  ///< by rank and index
    std::vector<QueueRecord> queues;                      ///< by rank
};

/// Writes down all that ranks do, and what made it happen when it did.
class Recorder {
  public:
    using Moment = Caused;
    using Sent = Cause;

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
    static constexpr bool records = true;

    explicit Recorder(std::uint32_t ranks, const Recording& recording = {}) : recording_(recording), places_(ranks) {
        record_.ops.resize(ranks);
        record_.activities.resize(ranks);
        record_.queues.resize(ranks);
    }

    Begun begin(std::uint32_t rank, const Caused& now, const Activity& activity, MessageCount& /*messages*/) {
        if (!recording_.holds(rank, now.time) &&
            (activity.op_index == unknown_op_index || !find(rank, activity.op_index))) {
            return {rank, Cause::unrecorded};
        }
        std::vector<ActivityRecord>& own = record_.activities[rank];
        if (own.size() == Cause::most) {
            throw InputError("a rank does more than 2^29 things: too many to be recorded");
        }
        append(own, {activity, now, now.time});
        return {rank, static_cast<std::uint32_t>(own.size() - 1)};
    }
    Caused at(const Begun& begun, Point point, Time time) {
        const bool frees = point == Point::sender_free || point == Point::receiver_free || point == Point::computed;
        if (frees && begun.index != Cause::unrecorded) {
            record_.activities[begun.rank][begun.index].free = time;
        }
        return {time, cause_of(begun, point)};
    }
    static Cause post(const Begun& begun) { return cause_of(begun, Point::arrival); }
    static Caused arrival(const Payload& message, Time time) { return {time, message.sent}; }
    static std::uint16_t code(const Message& /*message*/, const Cause& /*sent*/) { return Message::no_class; }

    void started(std::uint32_t rank, OpIndex op_index, const OpStart& op, const Caused& ready, const Caused& now) {
        if (!recording_.holds(rank, now.time)) {
            return;
        }
        std::vector<OpRecord>& own = record_.ops[rank];
        places_[rank].add(op_index, static_cast<std::uint32_t>(own.size()));
        append(own, {rank, op_index, op.kind, op.peer, op.tag, op.size, op.call, ready, now, now});
    }
    void ended(std::uint32_t rank, OpIndex op_index, const Caused& end) {
        if (OpRecord* op = find(rank, op_index)) {
            op->end = end;
        }
    }
    void received(std::uint32_t rank, OpIndex op_index, const Caused& arrived, const Caused& came,
                  const Caused& processed) {
        if (OpRecord* op = find(rank, op_index)) {
            op->arrived = arrived;
            op->came = came;
            op->processed = processed;
        }
        if (processed.cause.recorded()) {
            record_.activities[rank][processed.cause.index].activity.op_index = op_index;
        }
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

    [[nodiscard]] Record take() {
        for (std::vector<OpRecord>& own : record_.ops) {
            std::sort(own.begin(), own.end(),
                      [](const OpRecord& a, const OpRecord& b) { return a.op_index < b.op_index; });
        }
        return std::move(record_);
    }

  private:
    [[nodiscard]] OpRecord* find(std::uint32_t rank, OpIndex op_index) {
        const std::uint32_t* index = places_[rank].find(op_index);
        return index == nullptr ? nullptr : &record_.ops[rank][*index];
    }

    /// Ranks belong to threads, but their memory is counted together.
    template <class Row>
    void append(std::vector<Row>& rows, const Row& row) {
        if (rows.size() == rows.capacity()) {
            rows.reserve(std::max<std::size_t>(4, rows.size() * 2));
            const std::uint64_t more = (rows.capacity() - rows.size()) * sizeof(Row);
            if (bytes_.fetch_add(more, std::memory_order_relaxed) + more > recording_.most_bytes) {
                throw InputError("the record needs more than " + std::to_string(recording_.most_bytes) +
                                 " bytes: record fewer ranks, a shorter time, or allow more");
            }
        }
        rows.push_back(row);
    }

    static Cause cause_of(const Begun& begun, Point point) {
        Cause cause;
        cause.rank = begun.rank;
        cause.index = begun.index & Cause::most;
        cause.point = point;
        return cause;
    }

    Recording recording_;
    std::vector<SmallMap<std::uint32_t>> places_;  ///< where each rank's ops are
    std::atomic<std::uint64_t> bytes_ = 0;
    Record record_;
};

}  // namespace idlewave
