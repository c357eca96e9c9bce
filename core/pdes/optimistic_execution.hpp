#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "pdes/committed_records.hpp"
#include "pdes/conservative_queue.hpp"
#include "pdes/event.hpp"
#include "pdes/event_queue.hpp"
#include "pdes/execution_check.hpp"
#include "pdes/horizon.hpp"
#include "pdes/lp_events.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/optimistic_context.hpp"
#include "pdes/optimistic_lps.hpp"
#include "pdes/partition_statistics.hpp"
#include "pdes/reexecution.hpp"

namespace idlewave::pdes {

/// Executes the events of a partition, one block of LPs in a cell after the other. Events of conservative LPs wait here
/// until they are certain.
template <WindowModel M>
class OptimisticExecution {
  public:
    using State = typename M::State;
    using Payload = typename M::Payload;
    using Emitted = typename EmittedOf<M>::Type;

    /// `horizon` and `statistics` are those of the partition. `check`: each execution is made, undone, compared and
    /// made again.
    OptimisticExecution(OptimisticLps<M>& lps, Horizon& horizon, PartitionStatistics& statistics, bool check)
        : lps_(lps),
          horizon_(horizon),
          statistics_(statistics),
          check_(check),
          reexecution_(horizon.has_lookahead() ? 0 : lps.lps().size()) {}

    /// Makes the LPs, which start and do what they do in the first cell.
    void begin() {
        const Time end = has_lookahead() ? queue().grid().begin_of(1) : 0;
        Context context{lps_, horizon_, statistics_.counts, records_, end, 0};
        for (std::uint32_t i = 0; i < lps_.lps().size(); ++i) {
            context.enter(i, lps_.lps().make(i));
            lps_.set_timer(*context.record, i, lps_.worker().start(context.record->state, end, context));
        }
        statistics_.counts.committed += lps_.worker().executed();
        lps_.flush();
    }

    /// Executes the first block of LPs that has events in `cell`.
    void execute_cell(std::int64_t cell) {
        horizon_.enter(cell);
        const std::uint32_t block = queue().take_block(cell);
        const std::uint32_t first_lp = block << queue().grid().block_shift;
        if (!has_lookahead()) {
            requeue_executed(cell, first_lp);
        }
        lps_.enter_block(cell, block);
        execute_block(cell, first_lp);
        lps_.leave_block();
        lps_.flush();
    }

    /// Commits the executions before `cell`: their records become visible, and their memory is used again.
    void commit_before(std::int64_t cell) {
        lps_.undo().commit_before(cell, [this](UndoRecord& record) {
            for (const QueuedEvent& event : record.executed()) {
                queue().delivery().release(event);
            }
            UndoLog<M>::each_emitted(record,
                                     [this](const Emitted& emitted) { records_.commit(lps_.worker(), emitted); });
            statistics_.counts.committed += record.count;
        });
    }

    /// The cell of the earliest event of a conservative LP.
    [[nodiscard]] std::int64_t first_conservative() const { return conservative_events_.first(); }
    /// Queues the events of conservative LPs of cells up to `last` again, before later ones of their buckets: these may
    /// be anti-messages, which have to follow the events that they cancel.
    void requeue_conservative(std::int64_t last) {
        conservative_events_.release_to(last, [this](std::vector<PendingEvent> events, std::int64_t cell) {
            if (queue().has_events(cell)) {
                append_queued(events, cell);
            }
            for (const PendingEvent& event : events) {
                queue().push(event, cell);
            }
        });
    }

    [[nodiscard]] CommittedRecords<M>& records() { return records_; }
    [[nodiscard]] const CommittedRecords<M>& records() const { return records_; }

  private:
    using Context = OptimisticContext<M>;

    [[nodiscard]] EventQueue<M>& queue() { return lps_.queue(); }
    [[nodiscard]] bool has_lookahead() const { return horizon_.has_lookahead(); }

    /// Whether executions in `cell` have undo records: where they may be rolled back, and where records that they emit
    /// have to follow earlier ones that are in the log yet.
    [[nodiscard]] bool is_logged(std::int64_t cell) const {
        return cell > horizon_.safe() || (emits<M> && !lps_.undo().empty());
    }

    [[gnu::noinline]] void execute_block(std::int64_t cell, std::uint32_t first_lp) {
        const Grid& grid = queue().grid();
        Context context{lps_, horizon_, statistics_.counts, records_, grid.begin_of(cell + 1), cell};
        context.logged = is_logged(cell);
        context.undo_data = writes_undo<M> && context.logged ? &lps_.undo().execution().undo_data : nullptr;
        // `block` and `first_lp` are captured as copies, which stay in registers.
        Lp<State>* const block = &lps_.lps()[first_lp];
        // Always inline: a compiler drops the call of a function that only prefetches.
        const auto fetch_lp = [this, block, first_lp](const QueuedEvent& event) __attribute__((always_inline)) {
            __builtin_prefetch(block + event.lp, 1);
            lps_.undo().prefetch(first_lp + event.lp);
            lps_.worker().prefetch_lp(first_lp + event.lp);
            if (event.code == QueuedEvent::pooled) {
                queue().payloads().prefetch(event.payload_slot);
            }
        };
        const auto fetch_state = [this, block, first_lp](const QueuedEvent& event) __attribute__((always_inline)) {
            lps_.worker().prefetch_state(block[event.lp].state, first_lp + event.lp);
        };
        const auto execute_next = [this, block, first_lp, &context](std::span<const QueuedEvent> events)
                                      __attribute__((always_inline)) {
                                          const std::uint32_t index = events.front().lp;
                                          context.enter(first_lp + index, block[index]);
                                          execute_lp(context, events);
                                      };
        constexpr std::size_t both = 2;  // undo records are not in the cache, however few LPs there are
        each_lp_of_block(queue().events(), both, execute_next, fetch_lp, fetch_state);
    }

    /// Executes the events of an LP in a cell, anti-messages among them, unless they have to wait.
    [[gnu::always_inline]] void execute_lp(Context& context, std::span<const QueuedEvent> events) {
        if constexpr (has_conservative_lps<M>) {
            if (context.cell > horizon_.safe() && has_lookahead() && is_conservative(context, events)) {
                hold(context, events);
                return;
            }
        }
        if (statistics_.communication.counts()) [[unlikely]] {
            statistics_.communication.count(context.local, context.lp, events);
        }
        if (has_lookahead() || !reexecution_.is_requeued(context.local)) [[likely]] {
            execute(context, queue().remaining(events, queue().grid().begin_of(context.cell)));
        }
    }

    /// Executes events of an LP in a cell, of which none is cancelled.
    [[gnu::always_inline]] void execute(Context& context, std::span<const QueuedEvent> events) {
        context.lazy_queue = lps_.lazy_queue_of(context.local);
        if (!events.empty()) [[likely]] {
            const Time begins = queue().grid().begin_of(context.cell);
            if (check_) [[unlikely]] {
                check_lp<M>(context, events, begins);
            }
            // `run` is inlined at two places on purpose: a test before and after it cost large models a hundredth.
            if (context.logged) {
                UndoRecord* undo_record = lps_.undo().open(*context.record, context.local, context.cell, events);
                lps_.undo().close(undo_record, run(context, events, begins));
            } else {
                statistics_.counts.committed += run(context, events, begins);
                for (const QueuedEvent& event : events) {
                    queue().delivery().release(event);
                }
            }
            lps_.deliver_deferred();
        }
        if (context.lazy_queue != nullptr) [[unlikely]] {
            lps_.cancel_not_resent(*context.lazy_queue, context.local, context.cell);
        }
    }

    /// Lets the model execute them; returns how many events its worker counted.
    [[gnu::always_inline]] std::uint64_t run(Context& context, std::span<const QueuedEvent> events, Time begins) {
        Lp<State>& lp = *context.record;
        const std::uint64_t before = lps_.worker().executed();
        Time next = never;
        lps_.enter_lp();
        if (events.size() == 1 && events.front().source != QueuedEvent::timer) [[likely]] {
            next = lps_.worker().run_one(lp.state, queue().delivery().deliver(events.front(), begins), context.until,
                                         context);
        } else {
            const auto delivered = queue().delivery().deliver_all(lp, events, begins, context.until, queue().grid());
            for (std::size_t i = 1; i < delivered.size(); ++i) {
                statistics_.counts.ties += delivered[i].time == delivered[i - 1].time ? 1 : 0;
            }
            next = lps_.worker().run(lp.state, delivered, context.until, context);
        }
        lps_.leave_lp();
        lps_.set_timer(lp, context.local, next);
        return lps_.worker().executed() - before;
    }

    /// Without a lookahead, before a block is executed in a cell: rolls back the LPs that were executed in it already,
    /// and queues their old and their new events again.
    [[gnu::noinline]] void requeue_executed(std::int64_t cell, std::uint32_t first_lp) {
        reexecution_.enter_block();
        const Time begins = queue().grid().begin_of(cell);
        for (const QueuedEvent& event : queue().events()) {
            const std::uint32_t local = first_lp + event.lp;
            if (lps_.undo().is_executed_from(local, cell)) {
                ++statistics_.counts.primary_rollbacks;
                lps_.roll_back(local, cell);
                reexecution_.requeue(local);
            }
            if (reexecution_.is_requeued(local)) {
                queue().push(EventQueue<M>::pending(event, begins, local), cell);
            }
        }
        lps_.cancel_pending();
    }

    /// Whether an LP, in its state and with these events, may not be executed before that is certain.
    [[nodiscard]] bool is_conservative(const Context& context, std::span<const QueuedEvent> events) {
        if (conservative_events_.has(context.local) ||
            lps_.worker().is_conservative(context.record->state, context.lp)) {
            return true;
        }
        return std::any_of(events.begin(), events.end(), [this](const QueuedEvent& event) {
            return event.code == QueuedEvent::pooled &&
                   lps_.worker().is_conservative(queue().payloads()[event.payload_slot].payload);
        });
    }

    void hold(const Context& context, std::span<const QueuedEvent> events) {
        const Time begins = queue().grid().begin_of(context.cell);
        for (const QueuedEvent& event : events) {
            conservative_events_.add(EventQueue<M>::pending(event, begins, context.local), context.cell);
        }
    }

    /// Moves the events of the buckets for which there are `waiting` events behind these.
    void append_queued(std::vector<PendingEvent>& waiting, std::int64_t cell) {
        const Grid& grid = queue().grid();
        const std::size_t count = waiting.size();
        std::uint32_t appended_block = grid.blocks;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t block = waiting[i].lp >> grid.block_shift;
            if (block == appended_block) {
                continue;
            }
            appended_block = block;
            queue().take_block(cell, block);
            for (const QueuedEvent& event : queue().events()) {
                waiting.push_back(
                    EventQueue<M>::pending(event, grid.begin_of(cell), (block << grid.block_shift) + event.lp));
            }
        }
    }

    OptimisticLps<M>& lps_;
    Horizon& horizon_;
    PartitionStatistics& statistics_;
    bool check_;
    ReexecutedLps reexecution_;
    ConservativeQueue conservative_events_;
    CommittedRecords<M> records_;
};

}  // namespace idlewave::pdes
