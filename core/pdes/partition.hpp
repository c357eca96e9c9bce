#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "pdes/cancellation.hpp"
#include "pdes/committed_records.hpp"
#include "pdes/conservative_queue.hpp"
#include "pdes/event.hpp"
#include "pdes/event_queue.hpp"
#include "pdes/execution_check.hpp"
#include "pdes/gvt.hpp"
#include "pdes/horizon.hpp"
#include "pdes/lps.hpp"
#include "pdes/message_batch.hpp"
#include "pdes/model.hpp"
#include "pdes/model_errors.hpp"
#include "pdes/outbox.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_snapshot.hpp"
#include "pdes/partition_statistics.hpp"
#include "pdes/placement.hpp"
#include "pdes/reexecution.hpp"
#include "pdes/snapshot.hpp"
#include "pdes/stragglers.hpp"
#include "pdes/undo_log.hpp"

namespace idlewave::pdes {

/// The result of a partition's step.
enum class Step : std::uint8_t {
    advanced,
    idle,   ///< it waits for other partitions
    ended,  ///< the last step, which all partitions do at once
};

/// A partition: the LPs that one thread simulates (a processing element), which exchanges events with other partitions
/// through an Endpoint.
///
/// Time is divided into cells no longer than the lookahead. An LP is executed once for each cell in which it has
/// events. A straggler or an anti-message for a cell that the LP has executed rolls the LP back to that cell: its state
/// is restored, its events are queued again, and the events that it sent are cancelled (Time Warp; D. R. Jefferson:
/// Virtual time, TOPLAS 7(3), 1985). An anti-message lies in the same bucket as its event, and both annihilate when the
/// bucket is opened, so that no event is ever searched for. Executions before GVT are committed.
///
/// Without a lookahead cells have some length all the same. An event for a cell that its LP has executed lets the LP be
/// executed again, until nothing changes any more. Cancellation is lazy then: with aggressive cancellation two LPs that
/// send each other events within a cell would cancel them for ever.
///
/// The partition coordinates its parts. Each has a file: the event queue, the undo log, cancellation, the horizon
/// (GVT), the outbox, the conservative LPs' events, statistics, snapshots.
template <WindowModel M, class Endpoint>
class Partition {
  public:
    using Payload = typename M::Payload;
    using State = typename M::State;
    using Emitted = typename EmittedOf<M>::Type;
    static_assert((writes_undo<M> || std::is_trivially_copyable_v<State>) && std::is_trivially_copyable_v<Payload> &&
                  std::is_trivially_copyable_v<Emitted>);
    static_assert(!serialises<M> || writes_undo<M>,
                  "a model that serialises its LPs has to undo them itself, since a copy of the state is not enough");

    Partition(M& model, const Placement& placement, std::uint32_t self, Endpoint& endpoint,
              const PartitionOptions& options)
        : model_(model),
          placement_(placement),
          self_(self),
          check_(options.check),
          worker_(model),
          lps_(placement.size(self)),
          queue_(model, options.cell, placement.size(self)),
          undo_(placement.size(self)),
          cancellation_(options.lazy || model.lookahead() <= 0),
          reexecution_(model.lookahead() > 0 ? 0 : placement.size(self)),
          horizon_(options, model.lookahead() > 0, queue_.grid().cell_of(options.from), placement.partitions()),
          outbox_(placement.partitions(), endpoint, horizon_.gvt()),
          statistics_(options, placement.size(self), placement.lps()) {
        queue_.advance(queue_.grid().cell_of(options.from));
    }

    /// Makes the LPs, which start and do what they do in the first cell.
    void begin() {
        const Time end = horizon_.has_lookahead() ? queue_.grid().begin_of(1) : 0;
        Context context{*this, end, 0};
        for (std::uint32_t i = 0; i < lps_.size(); ++i) {
            context.enter(i, lps_.make(i));
            set_timer(*context.record, i, worker_.start(context.record->state, end, context));
        }
        statistics_.counts.committed += worker_.executed();
        outbox_.flush();
    }

    /// Restores, of sections of a snapshot, the LPs that are placed here.
    void restore(std::span<const Snapshot::Section> sections) {
        PartitionSnapshot<M>::restore(
            sections, contents(), [this](const PendingEvent& event) { queue_.push(event, cell_of(event)); },
            [this](std::uint32_t local, Time time) { set_timer(lps_[local], local, time); });
    }
    /// Throws InputError if the snapshot did not have all LPs.
    void check_restored() const { PartitionSnapshot<M>::check(lps_.size(), statistics_.restored_lps); }

    /// Executes the next block of LPs, if it may, and takes part in finding GVT.
    Step step() {
        receive_batches();
        Gvt& gvt = horizon_.gvt();
        if (gvt.poll(outbox_.endpoint(), [this] { return contribution(); })) {
            if (horizon_.has_ended()) {
                commit_before(Gvt::nothing);
                return Step::ended;
            }
            advance_to_gvt();
        }
        const std::int64_t cell = queue_.first_cell();
        const bool executes = queue_.has_buckets(cell) && horizon_.allows(cell, undo_.bytes_in_use());
        if (executes) {
            execute_cell(cell);
            horizon_.count_executed(queue_.events().size());
        }
        if (horizon_.needs_round(!executes)) {
            outbox_.flush();
            horizon_.begin_round();
            gvt.begin_round(outbox_.endpoint(), contribution());
        }
        return executes ? Step::advanced : Step::idle;
    }

    /// After all partitions paused: adds this one to the snapshot, sorted by the partitions of `next`.
    void save(const Placement& next, Snapshot& snapshot) {
        requeue_conservative(Gvt::nothing);
        PartitionSnapshot<M>::save_lps(next, snapshot, contents());
        save_events(next, snapshot);
    }

    /// Calls `use` with the number and the state of each LP.
    template <class Use>
    void each_lp(Use use) const {
        for (std::uint32_t i = 0; i < lps_.size(); ++i) {
            use(placement_.lp_of(self_, i), lps_[i].state);
        }
    }

    /// The committed records that no worker takes, of each LP in its order.
    [[nodiscard]] const std::vector<Emitted>& output() const { return records_.output(); }

    [[nodiscard]] const Statistics& statistics() {
        Statistics& counts = statistics_.counts;
        counts.gvt_rounds = horizon_.gvt().rounds();
        counts.log_bytes = undo_.bytes();
        counts.remote_events = outbox_.events();
        counts.message_batches = outbox_.batches();
        return counts;
    }
    [[nodiscard]] const ProgressSeries& series() const { return statistics_.series; }
    [[nodiscard]] const CommunicationMatrix& communication() const { return statistics_.communication; }
    [[nodiscard]] typename M::Worker& worker() { return worker_; }
    [[nodiscard]] std::uint32_t number() const { return self_; }
    [[nodiscard]] Time gvt() const { return queue_.grid().begin_of(horizon_.gvt().cell()); }
    /// Once it has ended: whether no event is left; else all partitions have paused.
    [[nodiscard]] bool at_end() const { return horizon_.at_end(); }
    [[nodiscard]] bool paused_for_migration() const { return horizon_.paused_for_migration(); }
    [[nodiscard]] Time paused_at() const { return queue_.grid().begin_of(horizon_.stop()); }
    /// Asks all partitions to pause soon, at one time before which all is committed and after which nothing was
    /// executed.
    void ask_to_pause() { horizon_.ask_to_pause(); }
    /// Adds the events that groups of `group` neighbouring LPs received.
    void add_weights(std::span<std::uint64_t> weights, std::uint32_t group) const {
        for (std::uint32_t i = 0; i < lps_.size(); ++i) {
            weights[placement_.lp_of(self_, i) / group] += communication().received(i);
        }
    }

  private:
    /// The context of a model while it executes an LP.
    struct Context {
        Partition& partition;
        Time until;
        std::int64_t cell;
        std::uint32_t lp = 0;     ///< number
        std::uint32_t local = 0;  ///< index in the partition
        Lp<State>* record = nullptr;
        bool logged = false;                          ///< the execution may be rolled back
        LazyQueue<Payload>* lazy_queue = nullptr;     ///< events that it may send again
        std::vector<std::byte>* undo_data = nullptr;  ///< for a model that undoes itself, if it may be rolled back

        void enter(std::uint32_t index, Lp<State>& entered) {
            local = index;
            lp = partition.placement_.lp_of(partition.self_, index);
            record = &entered;
        }

        [[nodiscard]] std::uint32_t self() const { return lp; }
        [[nodiscard]] std::uint32_t sent() const { return record->sequence; }

        [[gnu::always_inline]] void send(std::uint32_t destination, Time time, std::uint16_t code) {
            const Placement::Position position = check(destination, time);
            const SentEvent sent{time, destination, code};
            if (lazy_queue == nullptr || !is_sent_already(sent, nullptr)) [[likely]] {
                const PendingEvent event{time, position.local, lp, record->sequence, code};
                if (position.partition == partition.self_) [[likely]] {
                    partition.deliver(event);
                } else {
                    partition.send_remote(position.partition, event);
                }
            }
            count(sent);
        }

        template <class... Arguments>
        [[gnu::always_inline]] void send(std::uint32_t destination, Time time, const Arguments&... arguments) {
            const Placement::Position position = check(destination, time);
            const Payload payload(arguments...);
            const SentEvent sent{time, destination, QueuedEvent::pooled};
            if (lazy_queue == nullptr || !is_sent_already(sent, &payload)) [[likely]] {
                PendingEvent event{time, position.local, lp, record->sequence, QueuedEvent::pooled};
                if (position.partition == partition.self_) [[likely]] {
                    event.sequence = partition.queue_.payloads().put(record->sequence, payload);
                    partition.deliver(event);
                } else {
                    partition.outbox_.send(position.partition, event, partition.cell_of(event), payload);
                }
            }
            if (logged && partition.cancellation_.is_lazy()) {
                partition.undo_.execution().sent_payloads.push_back(payload);
            }
            count(sent);
        }

        void emit(const Emitted& emitted) {
            if (logged) {
                partition.undo_.execution().emitted.push_back(emitted);
            } else {
                partition.records_.commit(partition.worker_, emitted);
            }
        }

      private:
        [[gnu::noinline]] bool is_sent_already(const SentEvent& sent, const Payload* payload) const {
            const bool again = lazy_queue->matches(sent, record->sequence, payload,
                                                   [this](const CancelledEvent& old) { partition.cancel_now(old); });
            partition.statistics_.counts.resent += again ? 1 : 0;
            return again;
        }

        [[gnu::always_inline]] Placement::Position check(std::uint32_t destination, Time time) const {
            const bool has_lookahead = partition.horizon_.has_lookahead();
            const bool too_early = has_lookahead ? time < until : partition.queue_.grid().cell_of(time) < cell;
            if (too_early || destination >= partition.placement_.lps()) [[unlikely]] {
                throw_invalid_send(lp, destination, time, partition.placement_.lps(),
                                   has_lookahead ? "that violates the lookahead" : "that is in the past");
            }
            return partition.placement_.of(destination);
        }

        [[gnu::always_inline]] void count(const SentEvent& sent) const {
            if (logged) {
                partition.undo_.execution().sent.push_back(sent);
            }
            if (++record->sequence == 0) [[unlikely]] {
                throw_too_many_events(lp);
            }
        }
    };

    [[nodiscard]] PartitionContents<M> contents() {
        return {placement_, self_, worker_, lps_, queue_.payloads(), records_.output(), statistics_.restored_lps};
    }
    [[nodiscard]] std::int64_t cell_of(const PendingEvent& event) const { return queue_.grid().cell_of(event.time); }

    void save_events(const Placement& next, Snapshot& snapshot) {
        const Grid& grid = queue_.grid();
        for (std::int64_t cell = queue_.first_cell(); cell != CalendarQueue::none; cell = queue_.first_cell()) {
            if (!queue_.has_buckets(cell)) {
                queue_.advance(cell);
                continue;
            }
            const std::uint32_t block = queue_.take_block(cell);
            const Time begins = grid.begin_of(cell);
            queue_.each_lp([&](std::span<const QueuedEvent> events, bool has_anti_messages) {
                const std::uint32_t lp = placement_.lp_of(self_, (block << grid.block_shift) + events.front().lp);
                for (const QueuedEvent& event : has_anti_messages ? queue_.remaining(events, begins) : events) {
                    PartitionSnapshot<M>::save_queued(event, lp, begins, queue_.delivery(),
                                                      snapshot.open(next.of(lp).partition));
                }
            });
        }
    }

    // ---- GVT

    [[nodiscard]] Gvt::Contribution contribution() {
        return {.first_pending = std::min(queue_.first_cell(), conservative_events_.first()),
                .executed = horizon_.executed(),
                .wants_pause = horizon_.wants_pause()};
    }

    void advance_to_gvt() {
        const std::int64_t gvt = horizon_.gvt().cell();
        horizon_.advance(worker_.executed(), statistics_.counts.rolled_back);
        commit_before(gvt);
        queue_.advance(gvt);
        requeue_conservative(horizon_.safe());
        statistics_.sample(queue_.grid().begin_of(gvt), undo_.bytes_in_use());
    }

    void commit_before(std::int64_t cell) {
        undo_.commit_before(cell, [this](UndoRecord& record) {
            for (const QueuedEvent& event : record.executed()) {
                queue_.delivery().release(event);
            }
            UndoLog<M>::each_emitted(record, [this](const Emitted& emitted) { records_.commit(worker_, emitted); });
            statistics_.counts.committed += record.count;
        });
    }

    // ---- events come

    void receive_batches() {
        Endpoint& endpoint = outbox_.endpoint();
        while (MessageBatch<Payload>* batch = endpoint.receive()) {
            horizon_.gvt().count_received_batch(batch->epoch);
            auto payload = batch->payloads.begin();
            for (PendingEvent& event : batch->events) {
                if (event.code == QueuedEvent::pooled) {
                    take_payload<M>(event, *payload++, worker_, queue_.payloads());
                }
                deliver(event);
            }
            endpoint.release(batch);
        }
    }

    /// Delivers an event or an anti-message to an LP of this partition.
    [[gnu::always_inline]] void deliver(const PendingEvent& event) {
        const std::int64_t cell = cell_of(event);
        if (cell <= horizon_.frontier()) [[unlikely]] {
            deliver_straggler(event, cell);
            return;
        }
        queue_.push(event, cell);
    }

    /// Delivers one for a cell in which LPs were executed: after the present execution, if there is one.
    [[gnu::noinline]] void deliver_straggler(const PendingEvent& event, std::int64_t cell) {
        if (stragglers_.defers(event)) {
            return;
        }
        roll_back_for(event, cell);
        cancel_pending();
    }

    [[gnu::noinline]] void deliver_deferred() {
        for (const PendingEvent& event : stragglers_.take_deferred()) {
            roll_back_for(event, cell_of(event));
        }
        cancel_pending();
    }

    /// Rolls the receiver of an event back to the event's cell, if it was executed there, and queues the event.
    void roll_back_for(const PendingEvent& event, std::int64_t cell) {
        if (stragglers_.defers_to_end_of_block(event, cell, event.lp >> queue_.grid().block_shift)) [[unlikely]] {
            return;
        }
        if (undo_.is_executed_from(event.lp, cell)) {
            ++(event.code == QueuedEvent::anti_message ? statistics_.counts.secondary_rollbacks
                                                       : statistics_.counts.primary_rollbacks);
            roll_back(event.lp, cell);
        }
        queue_.push(event, cell);
    }

    /// Undoes all executions of an LP from `cell` on, queues their events again, and cancels the events that it sent.
    void roll_back(std::uint32_t local, std::int64_t cell) {
        const std::uint32_t number = placement_.lp_of(self_, local);
        undo_.roll_back(local, cell, [&](UndoRecord& record) {
            UndoLog<M>::restore(worker_, lps_[local], record, number);
            const Time begins = queue_.grid().begin_of(record.cell);
            for (const QueuedEvent& event : record.executed()) {
                queue_.push(EventQueue<M>::pending(event, begins, local), record.cell);
            }
            cancellation_.add(record, number);
            statistics_.counts.rolled_back += record.count;
            worker_.executed() -= record.count;
        });
    }

    // ---- events go

    /// Sends an event with a code; to another process, which may not know the code, with its payload.
    void send_remote(std::uint32_t partition, const PendingEvent& event) {
        if constexpr (assigns_codes<M>) {
            if (!outbox_.endpoint().shares_memory_with(partition)) {
                PendingEvent whole = event;
                whole.code = QueuedEvent::pooled;
                outbox_.send(partition, whole, cell_of(event), model_.payload(event.code));
                return;
            }
        }
        outbox_.send(partition, event, cell_of(event));
    }

    /// Sends the anti-message of an event.
    void cancel(const CancelledEvent& cancelled) {
        const Placement::Position position = placement_.of(cancelled.sent.destination);
        const PendingEvent anti_message{cancelled.sent.time, position.local, cancelled.source, cancelled.sequence,
                                        QueuedEvent::anti_message};
        const std::int64_t cell = cell_of(anti_message);
        ++statistics_.counts.cancelled;
        if (position.partition != self_) {
            outbox_.send(position.partition, anti_message, cell);
        } else if (cell > horizon_.frontier()) {
            queue_.push(anti_message, cell);
        } else if (!stragglers_.defers(anti_message)) {
            roll_back_for(anti_message, cell);
        }
    }

    void cancel_pending() {
        cancellation_.each_pending([this](const CancelledEvent& cancelled) { cancel(cancelled); });
    }
    void cancel_now(const CancelledEvent& cancelled) {
        cancel(cancelled);
        cancel_pending();
    }

    // ---- execution

    /// Executes the first block of LPs that has events in `cell`.
    void execute_cell(std::int64_t cell) {
        horizon_.enter(cell);
        const std::uint32_t block = queue_.take_block(cell);
        const std::uint32_t first_lp = block << queue_.grid().block_shift;
        if (!horizon_.has_lookahead()) {
            requeue_executed(cell, first_lp);
        }
        stragglers_.enter_block(cell, block);
        execute_block(cell, first_lp);
        stragglers_.leave_block();
        for (const PendingEvent& event : stragglers_.take_of_block()) {
            deliver(event);
        }
        outbox_.flush();
    }

    /// Whether executions in `cell` have undo records: where they may be rolled back, and where records that they emit
    /// have to follow earlier ones that are in the log yet.
    [[nodiscard]] bool is_logged(std::int64_t cell) const {
        return cell > horizon_.safe() || (emits<M> && !undo_.empty());
    }

    void execute_block(std::int64_t cell, std::uint32_t first_lp) {
        constexpr std::size_t prefetch_distance = BlockEvents::margin;
        constexpr std::size_t ahead = 8;
        const Grid& grid = queue_.grid();
        const Time begins = grid.begin_of(cell);
        Context context{*this, grid.begin_of(cell + 1), cell};
        context.logged = is_logged(cell);
        context.undo_data = writes_undo<M> && context.logged ? &undo_.execution().undo_data : nullptr;
        const std::span<const QueuedEvent> events = queue_.events();
        const QueuedEvent* event = events.data();
        const QueuedEvent* const end = event + events.size();
        while (event != end) {
            __builtin_prefetch(&lps_[first_lp + event[prefetch_distance].lp], 1);
            undo_.prefetch(first_lp + event[prefetch_distance].lp);
            if (event[prefetch_distance].code == QueuedEvent::pooled) {
                queue_.payloads().prefetch(event[prefetch_distance].sequence);
            }
            const std::uint32_t soon = first_lp + event[ahead].lp;
            worker_.prefetch(lps_[soon].state, soon);
            const QueuedEvent* const first = event++;
            bool has_anti_messages = first->code == QueuedEvent::anti_message;
            while (event != end && event->lp == first->lp) {
                has_anti_messages = has_anti_messages || event->code == QueuedEvent::anti_message;
                ++event;
            }
            context.enter(first_lp + first->lp, lps_[first_lp + first->lp]);
            const std::span<const QueuedEvent> own(first, event);
            if constexpr (has_conservative_lps<M>) {
                if (cell > horizon_.safe() && horizon_.has_lookahead() && is_conservative(context, own)) {
                    hold(context, own);
                    continue;
                }
            }
            if (statistics_.communication.counts()) [[unlikely]] {
                statistics_.communication.count(context.local, context.lp, own);
            }
            if (horizon_.has_lookahead() || !reexecution_.is_requeued(context.local)) [[likely]] {
                execute(context, has_anti_messages ? queue_.remaining(own, begins) : own);
            }
        }
    }

    /// Executes the events of an LP in a cell.
    [[gnu::always_inline]] void execute(Context& context, std::span<const QueuedEvent> events) {
        context.lazy_queue = cancellation_.queue_of(context.local);
        if (!events.empty()) [[likely]] {
            const Time begins = queue_.grid().begin_of(context.cell);
            if (check_) [[unlikely]] {
                check_lp(context, events, begins);
            }
            if (!context.logged) {
                statistics_.counts.committed += run(context, events, begins);
                for (const QueuedEvent& event : events) {
                    queue_.delivery().release(event);
                }
            } else {
                UndoRecord* record = undo_.open(*context.record, context.local, context.cell, events);
                undo_.close(record, run(context, events, begins));
            }
            if (stragglers_.has_deferred()) [[unlikely]] {
                deliver_deferred();
            }
        }
        if (context.lazy_queue != nullptr) [[unlikely]] {
            cancel_not_resent(context);
        }
    }

    /// Lets the model execute them; returns how many events its worker counted.
    [[gnu::always_inline]] std::uint64_t run(Context& context, std::span<const QueuedEvent> events, Time begins) {
        Lp<State>& lp = *context.record;
        const std::uint64_t before = worker_.executed();
        Time next = never;
        stragglers_.enter_lp();
        if (events.size() == 1 && events.front().source != QueuedEvent::timer) [[likely]] {
            next = worker_.run_one(lp.state, queue_.delivery().deliver(events.front(), begins), context.until, context);
        } else {
            const auto delivered = queue_.delivery().deliver_all(lp, events, begins, context.until, queue_.grid());
            for (std::size_t i = 1; i < delivered.size(); ++i) {
                statistics_.counts.ties += delivered[i].time == delivered[i - 1].time ? 1 : 0;
            }
            next = worker_.run(lp.state, delivered, context.until, context);
        }
        stragglers_.leave_lp();
        set_timer(lp, context.local, next);
        return worker_.executed() - before;
    }

    [[gnu::noinline]] void check_lp(const Context& context, std::span<const QueuedEvent> events, Time begins) {
        Lp<State>& lp = *context.record;
        const std::uint32_t timer = lp.timer;
        check_execution<M>(worker_, lp, context.lp,
                           queue_.delivery().deliver_all(lp, events, begins, context.until, queue_.grid()), begins,
                           context.until);
        lp.timer = timer;
    }

    void set_timer(Lp<State>& lp, std::uint32_t local, Time time) {
        const std::int64_t cell = queue_.grid().cell_of(time);
        if (time != never && lp.needs_timer(cell)) [[unlikely]] {
            queue_.push({time, local, QueuedEvent::timer, 0, 0}, cell);
        }
    }

    /// Cancels what an LP sent up to this cell in executions that were rolled back, and did not send again.
    [[gnu::noinline]] void cancel_not_resent(const Context& context) {
        cancellation_.finish(*context.lazy_queue, context.local, context.cell,
                             [this](const CancelledEvent& old) { cancel_now(old); });
    }

    /// Without a lookahead, before a block is executed in a cell: rolls back the LPs that were executed in it already,
    /// and queues their old and their new events again.
    [[gnu::noinline]] void requeue_executed(std::int64_t cell, std::uint32_t first_lp) {
        reexecution_.enter_block();
        const Time begins = queue_.grid().begin_of(cell);
        for (const QueuedEvent& event : queue_.events()) {
            const std::uint32_t local = first_lp + event.lp;
            if (undo_.is_executed_from(local, cell)) {
                ++statistics_.counts.primary_rollbacks;
                roll_back(local, cell);
                reexecution_.requeue(local);
            }
            if (reexecution_.is_requeued(local)) {
                queue_.push(EventQueue<M>::pending(event, begins, local), cell);
            }
        }
        cancel_pending();
    }

    // ---- conservative LPs

    /// Whether an LP, in its state and with these events, may not be executed before that is certain.
    [[nodiscard]] bool is_conservative(const Context& context, std::span<const QueuedEvent> events) {
        if (conservative_events_.has(context.local) || worker_.is_conservative(context.record->state, context.lp)) {
            return true;
        }
        return std::any_of(events.begin(), events.end(), [this](const QueuedEvent& event) {
            return event.code == QueuedEvent::pooled &&
                   worker_.is_conservative(queue_.payloads()[event.sequence].payload);
        });
    }

    void hold(const Context& context, std::span<const QueuedEvent> events) {
        const Time begins = queue_.grid().begin_of(context.cell);
        for (const QueuedEvent& event : events) {
            conservative_events_.add(EventQueue<M>::pending(event, begins, context.local), context.cell);
        }
    }

    /// Queues the events of conservative LPs of cells up to `last` again, before later ones of their buckets: these may
    /// be anti-messages, which have to follow the events that they cancel.
    void requeue_conservative(std::int64_t last) {
        conservative_events_.release_to(last, [this](std::vector<PendingEvent> events, std::int64_t cell) {
            if (queue_.has_events(cell)) {
                append_queued(events, cell);
            }
            for (const PendingEvent& event : events) {
                queue_.push(event, cell);
            }
        });
    }

    /// Moves the events of the buckets for which there are `waiting` events behind these.
    void append_queued(std::vector<PendingEvent>& waiting, std::int64_t cell) {
        const Grid& grid = queue_.grid();
        const std::size_t count = waiting.size();
        std::uint32_t appended_block = grid.blocks;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t block = waiting[i].lp >> grid.block_shift;
            if (block == appended_block) {
                continue;
            }
            appended_block = block;
            queue_.take_block(cell, block);
            for (const QueuedEvent& event : queue_.events()) {
                waiting.push_back(
                    EventQueue<M>::pending(event, grid.begin_of(cell), (block << grid.block_shift) + event.lp));
            }
        }
    }

    const M& model_;
    const Placement& placement_;
    std::uint32_t self_;
    bool check_;
    typename M::Worker worker_;
    Lps<State> lps_;
    EventQueue<M> queue_;
    UndoLog<M> undo_;
    Cancellation<Payload> cancellation_;
    Stragglers stragglers_;
    ReexecutedLps reexecution_;
    ConservativeQueue conservative_events_;
    Horizon horizon_;
    Outbox<Payload, Endpoint> outbox_;
    CommittedRecords<M> records_;
    PartitionStatistics statistics_;
};

}  // namespace idlewave::pdes
