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

/// The cause of a simulated time: a point of an activity of some rank. Zero bytes mean the beginning of the simulation.
struct Cause {
    std::uint32_t rank = 0;
    std::uint32_t index : 29 = 0;  ///< of the activity among those of its rank
    Point point : 3 = Point::start;

    static constexpr std::uint32_t most = (1U << 29) - 1;
    static constexpr std::uint32_t unrecorded = most;

    /// Whether the cause is an activity, not the beginning of the simulation.
    [[nodiscard]] bool known() const { return point != Point::start; }
    /// Whether the activity is in the record.
    [[nodiscard]] bool recorded() const { return known() && index != unrecorded; }
};

/// A time and its cause. Of two at one time `latest` takes the first argument.
struct CausedTime {
    Time time = 0;
    Cause cause = {};

    friend Time time_of(const CausedTime& moment) { return moment.time; }
    friend CausedTime latest(const CausedTime& a, const CausedTime& b) { return a.time < b.time ? b : a; }
    friend bool same(const CausedTime& a, const CausedTime& b) {
        return a.time == b.time && a.cause.rank == b.cause.rank && a.cause.index == b.cause.index &&
               a.cause.point == b.cause.point;
    }
};

/// A recorded activity.
struct ActivityRecord {
    Activity activity = {};
    CausedTime start = {};
    Time free = 0;  ///< the time at which the CPU is free afterwards
};

/// A recorded op.
struct OpRecord {
    std::uint32_t rank = 0;
    OpIndex op_index = 0;
    OpKind kind = OpKind::calc;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint64_t size = 0;
    std::uint16_t call = 0;
    CausedTime ready = {};  ///< its last requirement was met
    CausedTime start = {};
    CausedTime end = {};
    CausedTime arrived = {};       ///< of a receive: the arrival of its message, or of the request to send
    CausedTime data_arrived = {};  ///< of a receive: the arrival of its message, or of the rendezvous data
    CausedTime processed = {};     ///< of a receive: its message is processed
};

/// Statistics of the two matching queues of a rank.
struct QueueRecord {
    std::uint64_t arrivals = 0;        ///< messages that searched the posted receive queue
    std::uint64_t unexpected = 0;      ///< those that found no match
    std::uint64_t posted_lengths = 0;  ///< sum of that queue's lengths at these searches
    std::uint32_t most_posted = 0;
    std::uint64_t receives = 0;            ///< receives that searched the unexpected message queue
    std::uint64_t matched_unexpected = 0;  ///< those that found a match
    std::uint64_t unexpected_lengths = 0;  ///< sum of that queue's lengths at these searches
    std::uint32_t most_unexpected = 0;
};

/// Selects what is recorded: the ops and activities of the ranks from `first` to `last` that begin from `from` on and
/// before `until`. Their rows may take `most_bytes`. Queue statistics are always those of the whole simulation.
struct RecordingScope {
    std::uint32_t first = 0;
    std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
    Time from = 0;
    Time until = never;
    std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] bool holds(std::uint32_t rank, Time begin) const {
        return rank >= first && rank <= last && begin >= from && begin < until;
    }
};

/// The ops and activities of all ranks of a simulation.
struct SimulationRecord {
    std::vector<std::vector<OpRecord>> ops;               ///< by rank, ascending by op_index
    std::vector<std::vector<ActivityRecord>> activities;  ///< by rank, in the order in which they began
    std::vector<QueueRecord> queues;                      ///< by rank
};

/// The observer that records ops and activities, each with the cause of its times.
class Recorder {
  public:
    using Moment = CausedTime;
    using Annotation = Cause;

    struct Payload : Message {
        Cause sent = {};

        Payload() = default;
        Payload(const Message& message, Cause cause) : Message(message), sent(cause) {}
    };

    struct ActivityRef {
        std::uint32_t rank;
        std::uint32_t index;
    };

    static constexpr bool observes = true;
    static constexpr bool records = true;

    explicit Recorder(std::uint32_t ranks, const RecordingScope& recording = {})
        : recording_(recording), indices_(ranks) {
        record_.ops.resize(ranks);
        record_.activities.resize(ranks);
        record_.queues.resize(ranks);
    }

    ActivityRef begin(std::uint32_t rank, const CausedTime& now, const Activity& activity, MessageCount& /*messages*/) {
        if (!recording_.holds(rank, now.time) &&
            (activity.op_index == unknown_op_index || !find(rank, activity.op_index))) {
            return {rank, Cause::unrecorded};
        }
        std::vector<ActivityRecord>& own = record_.activities[rank];
        if (own.size() == Cause::most) {
            throw InputError("a rank has more than 2^29 activities: too many to be recorded");
        }
        append(own, {activity, now, now.time});
        return {rank, static_cast<std::uint32_t>(own.size() - 1)};
    }
    CausedTime at(const ActivityRef& ref, Point point, Time time) {
        const bool frees = point == Point::sender_free || point == Point::receiver_free || point == Point::computed;
        if (frees && ref.index != Cause::unrecorded) {
            record_.activities[ref.rank][ref.index].free = time;
        }
        return {time, cause_of(ref, point)};
    }
    static Cause annotate(const ActivityRef& ref) { return cause_of(ref, Point::arrival); }
    static CausedTime arrival(const Payload& message, Time time) { return {time, message.sent}; }
    static std::uint16_t code(const Message& /*message*/, const Cause& /*sent*/) { return Message::no_class; }

    void started(std::uint32_t rank, OpIndex op_index, const OpStart& op, const CausedTime& ready,
                 const CausedTime& now) {
        if (!recording_.holds(rank, now.time)) {
            return;
        }
        std::vector<OpRecord>& own = record_.ops[rank];
        indices_[rank].add(op_index, static_cast<std::uint32_t>(own.size()));
        append(own, {rank, op_index, op.kind, op.peer, op.tag, op.size, op.call, ready, now, now});
    }
    void ended(std::uint32_t rank, OpIndex op_index, const CausedTime& end) {
        if (OpRecord* op = find(rank, op_index)) {
            op->end = end;
        }
    }
    void received(std::uint32_t rank, OpIndex op_index, const CausedTime& arrived, const CausedTime& data_arrived,
                  const CausedTime& processed) {
        if (OpRecord* op = find(rank, op_index)) {
            op->arrived = arrived;
            op->data_arrived = data_arrived;
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
        own.matched_unexpected += found ? 1 : 0;
        own.unexpected_lengths += unexpected;
        own.most_unexpected = std::max(own.most_unexpected, unexpected);
    }

    [[nodiscard]] SimulationRecord take() {
        for (std::vector<OpRecord>& own : record_.ops) {
            std::sort(own.begin(), own.end(),
                      [](const OpRecord& a, const OpRecord& b) { return a.op_index < b.op_index; });
        }
        return std::move(record_);
    }

  private:
    [[nodiscard]] OpRecord* find(std::uint32_t rank, OpIndex op_index) {
        const std::uint32_t* index = indices_[rank].find(op_index);
        return index == nullptr ? nullptr : &record_.ops[rank][*index];
    }

    /// Each rank belongs to one thread; the memory of all rows is counted together.
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

    static Cause cause_of(const ActivityRef& ref, Point point) {
        Cause cause;
        cause.rank = ref.rank;
        cause.index = ref.index & Cause::most;
        cause.point = point;
        return cause;
    }

    RecordingScope recording_;
    std::vector<SmallMap<std::uint32_t>> indices_;  ///< by rank: the index of each op in `record_.ops`
    std::atomic<std::uint64_t> bytes_ = 0;
    SimulationRecord record_;
};

}  // namespace idlewave
