#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/archive.hpp"
#include "base/error.hpp"
#include "base/small_map.hpp"
#include "base/time.hpp"
#include "loggops/observer.hpp"

namespace idlewave::loggops {

/// The cause of a simulated time: a point of an activity of some rank. Zero bytes mean the beginning of the simulation.
struct Cause {
    std::uint32_t rank = 0;
    std::uint32_t index : 28 = 0;  ///< of the activity among those of its rank
    Point point : 4 = Point::start;

    static constexpr std::uint32_t most = (1U << 28) - 1;
    static constexpr std::uint32_t unrecorded = most;

    /// Whether the cause is an activity, not the beginning of the simulation.
    [[nodiscard]] bool known() const { return point != Point::start; }
    /// Whether the activity is in the record.
    [[nodiscard]] bool recorded() const { return known() && index != unrecorded; }

    bool operator==(const Cause&) const = default;
};

/// A time and its cause. Of two at one time `latest` takes the first argument.
struct CausedTime {
    Time time = 0;
    Cause cause = {};

    friend Time time_of(const CausedTime& moment) { return moment.time; }
    friend CausedTime latest(const CausedTime& a, const CausedTime& b) { return a.time < b.time ? b : a; }
    friend bool same(const CausedTime& a, const CausedTime& b) { return a.time == b.time && a.cause == b.cause; }
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
    goal::OpIndex op_index = 0;
    goal::OpKind kind = goal::OpKind::calc;
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
    Time handed_over = 0;          ///< of a put, get, lock or unlock: its NIC has its transmission
    CausedTime transmitted = {};   ///< … and begins it
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

        /// For lazy cancellation: a message that is sent again after a rollback is the same only if its cause is.
        bool operator==(const Payload& other) const {
            return size == other.size && tag == other.tag && sender_handle == other.sender_handle &&
                   receiver_handle == other.receiver_handle && message_class == other.message_class &&
                   kind == other.kind && sent == other.sent;
        }
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
            (activity.op_index == goal::unknown_op_index || !find(rank, activity.op_index))) {
            return {rank, Cause::unrecorded};
        }
        std::vector<ActivityRecord>& own = record_.activities[rank];
        if (own.size() == Cause::most) {
            throw InputError("a rank has more than 2^28 activities: too many to be recorded");
        }
        append(own, {activity, now, now.time});
        return {rank, static_cast<std::uint32_t>(own.size() - 1)};
    }
    CausedTime at(const ActivityRef& ref, Point point, Time time) {
        const bool frees = point == Point::sender_free || point == Point::receiver_free || point == Point::computed ||
                           point == Point::posted;
        if (frees && ref.index != Cause::unrecorded) {
            record_.activities[ref.rank][ref.index].free = time;
        }
        return {time, cause_of(ref, point)};
    }
    static Cause annotate(const ActivityRef& ref) { return cause_of(ref, Point::arrival); }
    static Cause acknowledge(const ActivityRef& ref, const CausedTime& /*landed*/, machine::LevelKind /*level*/) {
        return cause_of(ref, Point::acknowledged);
    }
    static CausedTime arrival(const Payload& message, Time time) { return {time, message.sent}; }
    static std::uint16_t code(const Message& /*message*/, const Cause& /*sent*/) { return Message::no_class; }

    void started(std::uint32_t rank, goal::OpIndex op_index, const OpStart& op, const CausedTime& ready,
                 const CausedTime& now) {
        if (!recording_.holds(rank, now.time)) {
            return;
        }
        std::vector<OpRecord>& own = record_.ops[rank];
        indices_[rank].add(op_index, static_cast<std::uint32_t>(own.size()));
        append(own, {rank, op_index, op.kind, op.peer, op.tag, op.size, op.call, ready, now, now});
    }
    void ended(std::uint32_t rank, goal::OpIndex op_index, const CausedTime& end) {
        if (OpRecord* op = find(rank, op_index)) {
            op->end = end;
        }
    }
    void received(std::uint32_t rank, goal::OpIndex op_index, const CausedTime& arrived, const CausedTime& data_arrived,
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

    void transmitted(std::uint32_t rank, goal::OpIndex op_index, Time handed_over, const CausedTime& begun) {
        if (OpRecord* op = find(rank, op_index)) {
            op->handed_over = handed_over;
            op->transmitted = begun;
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

    // ---- a rank that is rolled back, or that moves to another process

    /// Writes what `roll_back` needs to undo what the rank does from now on.
    void save(std::uint32_t rank, Serialiser& serialiser) const {
        serialiser(static_cast<std::uint32_t>(record_.ops[rank].size()));
        serialiser(static_cast<std::uint32_t>(record_.activities[rank].size()));
        serialiser(record_.queues[rank]);
    }
    /// Drops the rows that the rank has added since `save`. Older rows keep what was written to them since, which is
    /// the end of an op, its message, its transmission, and the op of a reception. Nothing reads these fields during
    /// the simulation, and a simulation that reaches its end writes each of them once more.
    void roll_back(std::uint32_t rank, Deserialiser& deserialiser) {
        std::vector<OpRecord>& ops = record_.ops[rank];
        for (const auto saved = deserialiser.next<std::uint32_t>(); ops.size() > saved; ops.pop_back()) {
            indices_[rank].remove(ops.back().op_index);
        }
        std::vector<ActivityRecord>& activities = record_.activities[rank];
        activities.erase(activities.begin() + deserialiser.next<std::uint32_t>(), activities.end());
        deserialiser(record_.queues[rank]);
    }

    /// Lets the rows of a rank move with the rank: to another process, or into a checkpoint.
    void let_rows_move() { rows_move_ = true; }

    /// Writes what a rank's record is, with the rows if these move. They are no longer here then.
    void pack(std::uint32_t rank, Serialiser& serialiser) {
        save(rank, serialiser);
        if (rows_move_) {
            pack_rows(record_.ops[rank], serialiser);
            pack_rows(record_.activities[rank], serialiser);
            indices_[rank] = {};
            record_.queues[rank] = {};
        }
    }
    void unpack(std::uint32_t rank, Deserialiser& deserialiser) {
        if (!rows_move_) {
            roll_back(rank, deserialiser);
            return;
        }
        const auto ops = deserialiser.next<std::uint32_t>();
        const auto activities = deserialiser.next<std::uint32_t>();
        deserialiser(record_.queues[rank]);
        unpack_rows(record_.ops[rank], ops, deserialiser);
        unpack_rows(record_.activities[rank], activities, deserialiser);
        for (std::uint32_t i = 0; i < ops; ++i) {
            indices_[rank].add(record_.ops[rank][i].op_index, i);
        }
    }

    /// The memory of all rows here, and how much it may be.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t most_bytes() const { return recording_.most_bytes; }
    [[noreturn]] void refuse_memory() const {
        throw InputError("the record needs more than " + std::to_string(recording_.most_bytes) +
                         " bytes: record fewer ranks, a shorter time, or allow more");
    }

    [[nodiscard]] SimulationRecord take() {
        for (std::vector<OpRecord>& own : record_.ops) {
            std::sort(own.begin(), own.end(),
                      [](const OpRecord& a, const OpRecord& b) { return a.op_index < b.op_index; });
        }
        return std::move(record_);
    }

  private:
    /// A snapshot counts the bytes of a rank in 32 bits.
    static constexpr std::size_t most_migrated_bytes = std::size_t{1} << 30;

    [[nodiscard]] OpRecord* find(std::uint32_t rank, goal::OpIndex op_index) {
        const std::uint32_t* index = indices_[rank].find(op_index);
        return index == nullptr ? nullptr : &record_.ops[rank][*index];
    }

    /// Each rank belongs to one thread; the memory of all rows is counted together.
    template <class Row>
    void append(std::vector<Row>& rows, const Row& row) {
        if (rows.size() == rows.capacity()) {
            reserve(rows, std::max<std::size_t>(4, rows.size() * 2));
        }
        rows.push_back(row);
    }
    template <class Row>
    void reserve(std::vector<Row>& rows, std::size_t count) {
        const std::size_t before = rows.capacity();
        rows.reserve(count);
        const std::uint64_t more = (rows.capacity() - before) * sizeof(Row);
        if (bytes_.fetch_add(more, std::memory_order_relaxed) + more > recording_.most_bytes) {
            refuse_memory();
        }
    }

    template <class Row>
    void pack_rows(std::vector<Row>& rows, Serialiser& serialiser) {
        if (rows.size() * sizeof(Row) > most_migrated_bytes) {
            throw InputError(
                "the record of a rank takes more than 1 GB, too much to move with the rank: record a "
                "shorter time, or simulate in one process without checkpoints");
        }
        for (const Row& row : rows) {
            serialiser(row);
        }
        bytes_.fetch_sub(rows.capacity() * sizeof(Row), std::memory_order_relaxed);
        rows = std::vector<Row>();  // without its memory, which `{}` would keep
    }
    template <class Row>
    void unpack_rows(std::vector<Row>& rows, std::uint32_t count, Deserialiser& deserialiser) {
        reserve(rows, count);
        while (rows.size() < count) {
            rows.push_back(deserialiser.next<Row>());
        }
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
    bool rows_move_ = false;
    SimulationRecord record_;
};

}  // namespace idlewave::loggops
