#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "base/time.hpp"
#include "pdes/cancellation.hpp"
#include "pdes/event.hpp"
#include "pdes/event_queue.hpp"
#include "pdes/horizon.hpp"
#include "pdes/inbox.hpp"
#include "pdes/lazy_cancellation.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/outbox.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/statistics.hpp"
#include "pdes/stragglers.hpp"
#include "pdes/undo_log.hpp"

namespace idlewave::pdes {

/// The LPs of a partition and their pending events under Time Warp: delivers events, rolls LPs back, and cancels what
/// they sent. An execution (OptimisticExecution) takes events from the queue, and sends new ones here. Batches that are
/// being filled, events that are to be cancelled, and stragglers that have to wait are seen here only.
template <WindowModel M>
class OptimisticLps {
  public:
    using Endpoint = EndpointOf<M>;
    using Payload = typename M::Payload;
    using State = typename M::State;
    using Emitted = typename EmittedOf<M>::Type;
    static_assert((writes_undo<M> || std::is_trivially_copyable_v<State>) && std::is_trivially_copyable_v<Payload> &&
                  std::is_trivially_copyable_v<Emitted>);
    static_assert(!serialises<M> || writes_undo<M>,
                  "a model that serialises its LPs has to undo them itself, since a copy of the state is not enough");

    /// `horizon` and `counts` are those of the partition.
    OptimisticLps(M& model, const Placement& placement, std::uint32_t self, Endpoint& endpoint, Horizon& horizon,
                  Statistics& counts, const PartitionOptions& options)
        : model_(model),
          placement_(placement),
          self_(self),
          horizon_(horizon),
          counts_(counts),
          worker_(model),
          lps_(placement.size(self)),
          queue_(model, options.cell, placement.size(self)),
          undo_(placement.size(self)),
          cancellation_(options.lazy || model.lookahead() <= 0),
          outbox_(placement.partitions(), endpoint, horizon.gvt()) {
        queue_.advance(queue_.grid().cell_of(options.from));
    }

    [[nodiscard]] const Placement& placement() const { return placement_; }
    [[nodiscard]] std::uint32_t self() const { return self_; }
    /// The number of an LP, by its index in the partition.
    [[nodiscard]] std::uint32_t number_of(std::uint32_t local) const { return placement_.lp_of(self_, local); }
    [[nodiscard]] typename M::Worker& worker() { return worker_; }
    [[nodiscard]] Lps<State>& lps() { return lps_; }
    [[nodiscard]] const Lps<State>& lps() const { return lps_; }
    [[nodiscard]] EventQueue<M>& queue() { return queue_; }
    [[nodiscard]] const EventQueue<M>& queue() const { return queue_; }
    [[nodiscard]] UndoLog<M>& undo() { return undo_; }
    [[nodiscard]] const UndoLog<M>& undo() const { return undo_; }
    [[nodiscard]] std::int64_t cell_of(const PendingEvent& event) const { return queue_.grid().cell_of(event.time); }

    // ---- events come

    /// Receives and delivers what other partitions have sent.
    void receive() {
        receive_batches<M>(outbox_.endpoint(), horizon_.gvt(), worker_, queue_.payloads(),
                           [this](const PendingEvent& event) { deliver(event); });
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

    /// Undoes all executions of an LP from `cell` on, queues their events again, and cancels the events that it sent.
    void roll_back(std::uint32_t local, std::int64_t cell) {
        const std::uint32_t number = number_of(local);
        undo_.roll_back(local, cell, [&](UndoRecord& record) {
            UndoLog<M>::restore(worker_, lps_[local], record, number);
            const Time begins = queue_.grid().begin_of(record.cell);
            for (const QueuedEvent& event : record.executed()) {
                queue_.push(EventQueue<M>::pending(event, begins, local), record.cell);
            }
            cancellation_.add(record, number);
            counts_.rolled_back += record.count;
            worker_.executed() -= record.count;
        });
    }

    // ---- events go

    /// Sends an event with a code to another partition; to another process, which may not know the code, with its
    /// payload.
    void send_remote(std::uint32_t partition, const PendingEvent& event) {
        outbox_.send_coded(model_, partition, event, cell_of(event));
    }
    /// Sends an event with a payload.
    void send_remote(std::uint32_t partition, const PendingEvent& event, const Payload& payload) {
        outbox_.send(partition, event, cell_of(event), payload);
    }

    /// Sends the message batches that are being filled.
    void flush() { outbox_.flush(); }
    /// Number of events and of batches sent to other partitions.
    [[nodiscard]] std::uint64_t remote_events() const { return outbox_.events(); }
    [[nodiscard]] std::uint64_t batches() const { return outbox_.batches(); }

    // ---- events are cancelled

    /// Whether an event is cancelled only when its LP does not send it again.
    [[nodiscard]] bool is_lazy() const { return cancellation_.is_lazy(); }
    /// The events that an LP may send again, or null.
    [[nodiscard]] LazyQueue<Payload>* lazy_queue_of(std::uint32_t local) { return cancellation_.queue_of(local); }
    /// Cancels what an LP sent up to `cell` in executions that were rolled back, and did not send again.
    [[gnu::noinline]] void cancel_not_resent(LazyQueue<Payload>& queue, std::uint32_t local, std::int64_t cell) {
        cancellation_.finish(queue, local, cell, [this](const CancelledEvent& old) { cancel_now(old); });
    }
    /// Cancels what executions sent that were rolled back.
    void cancel_pending() {
        cancellation_.each_pending([this](const CancelledEvent& cancelled) { cancel(cancelled); });
    }
    /// Cancels one event, and what its cancellation rolls back here.
    void cancel_now(const CancelledEvent& cancelled) {
        cancel(cancelled);
        cancel_pending();
    }

    // ---- executions begin and end; events that come meanwhile may have to wait

    void enter_block(std::int64_t cell, std::uint32_t block) { stragglers_.enter_block(cell, block); }
    /// Delivers what came for the block.
    void leave_block() {
        stragglers_.leave_block();
        for (const PendingEvent& event : stragglers_.take_of_block()) {
            deliver(event);
        }
    }
    void enter_lp() { stragglers_.enter_lp(); }
    void leave_lp() { stragglers_.leave_lp(); }
    /// Delivers what came between the last two; to be called once the undo log has the execution.
    void deliver_deferred() {
        if (stragglers_.has_deferred()) [[unlikely]] {
            deliver_all_deferred();
        }
    }

    /// Sets a timer, so that the LP is executed in the cell of `time`, unless an earlier one is set.
    [[gnu::always_inline]] void set_timer(Lp<State>& lp, std::uint32_t local, Time time) {
        if (time == never) {
            return;
        }
        const std::int64_t cell = queue_.grid().cell_of(time);
        if (lp.needs_timer(cell)) [[unlikely]] {
            queue_.push({time, local, QueuedEvent::timer, {}, 0}, cell);
        }
    }

  private:
    [[gnu::noinline]] void deliver_all_deferred() {
        for (const PendingEvent& event : stragglers_.take_deferred()) {
            roll_back_for(event, cell_of(event));
        }
        cancel_pending();
    }

    /// Delivers one for a cell in which LPs were executed: after the present execution, if there is one.
    [[gnu::noinline]] void deliver_straggler(const PendingEvent& event, std::int64_t cell) {
        if (stragglers_.defers(event)) {
            return;
        }
        roll_back_for(event, cell);
        cancel_pending();
    }

    /// Rolls the receiver of an event back to the event's cell, if it was executed there, and queues the event.
    void roll_back_for(const PendingEvent& event, std::int64_t cell) {
        if (stragglers_.defers_to_end_of_block(event, cell, event.lp >> queue_.grid().block_shift)) [[unlikely]] {
            return;
        }
        if (undo_.is_executed_from(event.lp, cell)) {
            ++(event.code == QueuedEvent::anti_message ? counts_.secondary_rollbacks : counts_.primary_rollbacks);
            roll_back(event.lp, cell);
        }
        queue_.push(event, cell);
    }

    /// Sends the anti-message of an event.
    void cancel(const CancelledEvent& cancelled) {
        const Placement::Position position = placement_.of(cancelled.sent.destination);
        const PendingEvent anti_message{
            cancelled.sent.time, position.local, cancelled.source, {cancelled.sequence}, QueuedEvent::anti_message};
        const std::int64_t cell = cell_of(anti_message);
        ++counts_.cancelled;
        if (position.partition != self_) {
            outbox_.send(position.partition, anti_message, cell);
        } else if (cell > horizon_.frontier()) {
            queue_.push(anti_message, cell);
        } else if (!stragglers_.defers(anti_message)) {
            roll_back_for(anti_message, cell);
        }
    }

    const M& model_;
    const Placement& placement_;
    std::uint32_t self_;
    Horizon& horizon_;
    Statistics& counts_;
    typename M::Worker worker_;
    Lps<State> lps_;
    EventQueue<M> queue_;
    UndoLog<M> undo_;
    Cancellation<Payload> cancellation_;
    Stragglers stragglers_;
    Outbox<Payload> outbox_;
};

}  // namespace idlewave::pdes
