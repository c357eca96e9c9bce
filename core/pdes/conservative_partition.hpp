#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/time.hpp"
#include "pdes/block_events.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/committed_records.hpp"
#include "pdes/conservative_context.hpp"
#include "pdes/conservative_snapshot.hpp"
#include "pdes/delivery.hpp"
#include "pdes/event.hpp"
#include "pdes/inbox.hpp"
#include "pdes/lp_events.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_snapshot.hpp"
#include "pdes/partition_statistics.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/payload_store.hpp"
#include "pdes/placement.hpp"
#include "pdes/process_link.hpp"
#include "pdes/process_memory.hpp"
#include "pdes/snapshot.hpp"

namespace idlewave::pdes {

/// The LPs that one thread executes under the conservative scheduler, window by window, and the calendar of the events
/// that it has sent.
template <WindowModel M>
class ConservativePartition {
  public:
    using Endpoint = EndpointOf<M>;
    using Payload = typename M::Payload;
    using State = typename M::State;
    using Worker = typename M::Worker;
    using Emitted = typename EmittedOf<M>::Type;

    /// `thread` of this process; `partitions` of the run.
    ConservativePartition(M& model, ProcessMemory<M>& memory, std::uint32_t thread, Endpoint& endpoint,
                          std::uint32_t partitions, const PartitionOptions& options)
        : model_(model),
          memory_(memory),
          thread_(thread),
          calendar_(memory.grid(), memory.chunks()),
          block_(memory.grid()),
          payloads_(memory.payloads()),
          worker_(model),
          delivery_(model, payloads_),
          link_(partitions, endpoint, memory.grid().cell_of(options.from)),
          statistics_(options, memory.layout().slots(), memory.placement().lps()) {
        memory.add(calendar_);
    }

    [[nodiscard]] std::uint32_t thread() const { return thread_; }
    [[nodiscard]] Worker& worker() { return worker_; }
    /// Events executed in this segment.
    [[nodiscard]] std::uint64_t executed() const { return executed_; }

    /// Makes the LPs, which start and do what they do in the first window. Returns the cell of the earliest event.
    std::int64_t begin() {
        const Grid& grid = memory_.grid();
        Context context = context_until(grid.begin_of(grid.window_cells));
        memory_.each_lp(thread_, [&](std::uint32_t slot, std::uint32_t number) {
            Lp<State>& lp = memory_.lps().make(slot);
            context.enter(number, lp);
            set_timer(lp, slot, worker_.start(lp.state, context.window_end(), context));
        });
        return calendar_.first(grid.window_cells);
    }

    /// Prepares for a restart from a snapshot, of a segment that begins with the cell `from`.
    void begin_restore(std::int64_t from) { calendar_.advance(from); }
    /// Restores, of sections of a snapshot, what this thread executes.
    void restore(std::span<const Snapshot::Section> sections) {
        PartitionSnapshot<M>::restore(
            sections, contents(),
            [this](const PendingEvent& event) {
                calendar_.push(event.time, event.lp, event.source, event.sequence, event.code);
            },
            [this](std::uint32_t slot, Time time) { set_timer(memory_.lps()[slot], slot, time); });
    }
    /// Throws InputError if the snapshot did not have all LPs. Returns the cell of the earliest event from `from` on.
    std::int64_t end_restore(std::int64_t from) {
        std::uint32_t lps = 0;
        memory_.each_lp(thread_, [&](std::uint32_t /*slot*/, std::uint32_t /*number*/) { ++lps; });
        PartitionSnapshot<M>::check(lps, statistics_.restored_lps);
        return calendar_.first(from);
    }

    /// Adds LPs and committed records to a snapshot, sorted by the partitions of `next`.
    void save_lps(const Placement& next, Snapshot& snapshot) {
        PartitionSnapshot<M>::save_lps(next, snapshot, contents());
    }
    /// Moves the events of all threads into a snapshot; called for thread 0, when none executes any.
    void save_events(std::int64_t first, const Placement& next, Snapshot& snapshot) {
        save_calendars(memory_, block_, delivery_, first, next, snapshot);
    }

    /// Agrees on the next window with other processes.
    WindowCandidate agree(const WindowCandidate& own) {
        return link_.agree(own, [this] { return receive(); });
    }

    /// Executes the window that begins with the cell `first`, and calls `after_block` with the number of events of each
    /// block of LPs. Returns the cell of the earliest event of the calendar then.
    template <class AfterBlock>
    std::int64_t execute_window(std::int64_t first, AfterBlock after_block) {
        if (!advance(first)) {
            return calendar_.first(first);
        }
        const std::int64_t last = memory_.grid().end_of_window(first);
        memory_.each_block_with_events(first, last, [&](std::uint32_t block) {
            if (memory_.layout().owner_of(block) == thread_) {
                after_block(execute_block(block, first, last));
            }
        });
        return leave_window(first, last);
    }

    // The steps of `execute_window`, for a thread that executes the blocks of others, too.

    /// Moves the present to the cell `first`. False if it had no buckets so far: where the window begins is then known
    /// only now.
    bool advance(std::int64_t first) {
        const bool exact = calendar_.is_near(first);
        calendar_.advance(first);
        return exact;
    }
    /// Executes a block of this partition in the window. Returns the number of its events.
    std::size_t execute_block(std::uint32_t block, std::int64_t first, std::int64_t last) {
        const Grid& grid = memory_.grid();
        Context context = context_until(grid.begin_of(last));
        from_others_ += block_.gather(memory_.calendars(), calendar_, block, first, last);
        execute_events(context, block << grid.block_shift, grid.begin_of(first));
        executed_ += block_.size();
        return block_.size();
    }
    /// Returns the cell of the earliest event of the calendar after the window.
    std::int64_t leave_window(std::int64_t first, std::int64_t last) {
        if (statistics_.series.is_next()) {
            statistics_.counts.committed = worker_.executed();
            statistics_.add_sample(memory_.grid().begin_of(first), 0);
        }
        return calendar_.first(last);
    }
    /// The cell of the earliest event of the calendar from `first` on.
    [[nodiscard]] std::int64_t first_cell(std::int64_t first) const { return calendar_.first(first); }

    /// Calls `use` with the number and the state of each LP.
    template <class Use>
    void each_lp(Use use) const {
        const Lps<State>& lps = std::as_const(memory_).lps();
        memory_.each_lp(thread_, [&](std::uint32_t slot, std::uint32_t number) { use(number, lps[slot].state); });
    }
    /// The emitted records that were kept, those of an LP in its order.
    [[nodiscard]] const std::vector<Emitted>& output() const { return records_.output(); }

    /// `windows` so far.
    [[nodiscard]] const Statistics& statistics(std::uint64_t windows) {
        Statistics& counts = statistics_.counts;
        counts.committed = worker_.executed();
        counts.gvt_rounds = windows;
        counts.message_batches = link_.batches();
        counts.remote_events = link_.events() + from_others_;
        return counts;
    }
    [[nodiscard]] const ProgressSeries& series() const { return statistics_.series; }
    [[nodiscard]] const CommunicationMatrix& communication() const { return statistics_.communication; }
    /// Adds the events that groups of `group` neighbouring LPs received.
    void add_weights(std::span<std::uint64_t> weights, std::uint32_t group) const {
        memory_.each_lp(thread_, [&](std::uint32_t slot, std::uint32_t number) {
            weights[number / group] += communication().received(slot);
        });
    }

  private:
    using Context = ConservativeContext<M>;

    /// What fewer LPs of a run need stays in the cache; to fetch it ahead takes longer than it saves.
    static constexpr std::uint32_t fewest_lps_to_fetch = 128;

    [[nodiscard]] Context context_until(Time window_end) {
        return {{model_, memory_, calendar_, payloads_, link_, records_, worker_}, window_end};
    }
    [[nodiscard]] PartitionContents<M, LpsOfThread<M>> contents() {
        return {{memory_, thread_}, worker_, memory_.lps(), payloads_, records_.output(), statistics_.restored_lps};
    }

    /// Receives events from other processes; returns the cell of the earliest.
    std::int64_t receive() {
        std::int64_t earliest = CalendarQueue::none;
        const LpLayout& layout = memory_.layout();
        receive_batches<M>(link_.endpoint(), link_.gvt(), worker_, payloads_, [&](const PendingEvent& event) {
            calendar_.push(event.time, layout.slot_of(thread_, event.lp), event.source, event.sequence, event.code);
            earliest = std::min(earliest, memory_.grid().cell_of(event.time));
        });
        return earliest;
    }

    void execute_events(Context& context, std::uint32_t first_slot, Time begins) {
        // The LPs of a block are neighbours in their partition, but their numbers need not be.
        const bool round_robin = memory_.layout().round_robin();
        const bool counts_communication = statistics_.communication.counts();
        const std::size_t steps = memory_.placement().lps() < fewest_lps_to_fetch ? 0 : worker_.fetch_steps();
        // Captures are copies, which stay in registers.
        const auto number_of = [this, round_robin, first_slot](std::uint32_t index) {
            return round_robin ? first_slot + index : memory_.layout().lp_of(first_slot + index);
        };
        Lp<State>* const block = &memory_.lps()[first_slot];
        // Always inline: a compiler drops the call of a function that only prefetches.
        const auto fetch_lp = [this, block, number_of](const QueuedEvent& event) __attribute__((always_inline)) {
            fetch(block[event.lp]);
            worker_.prefetch_lp(number_of(event.lp));
            if (event.code == QueuedEvent::pooled) {
                payloads_.prefetch(event.payload_slot);
            }
        };
        const auto fetch_state = [this, block, number_of](const QueuedEvent& event) __attribute__((always_inline)) {
            worker_.prefetch_state(block[event.lp].state, number_of(event.lp));
        };
        const auto fetch_for = [this, block](const QueuedEvent& event) __attribute__((always_inline)) {
            worker_.prefetch_for(block[event.lp].state, delivery_.upcoming(event));
        };
        const auto fetch_further = [this, block, number_of](const QueuedEvent& event) __attribute__((always_inline)) {
            worker_.prefetch_further(block[event.lp].state, number_of(event.lp), delivery_.upcoming(event));
        };
        const auto execute_lp = [this, block, number_of, first_slot, begins, counts_communication,
                                 &context](std::span<const QueuedEvent> events) __attribute__((always_inline)) {
            const std::uint32_t index = events.front().lp;
            context.enter(number_of(index), block[index]);
            if (counts_communication) [[unlikely]] {
                statistics_.communication.count(first_slot + index, context.self(), events);
            }
            execute(context, first_slot + index, events, begins);
        };
        each_lp_of_block(block_.events(), steps, execute_lp, fetch_lp, fetch_state, fetch_for, fetch_further);
    }

    /// Executes an LP in the window: its events, and what it does by itself. Most often it has one event.
    [[gnu::always_inline]] void execute(Context& context, std::uint32_t slot, std::span<const QueuedEvent> events,
                                        Time begins) {
        Lp<State>& lp = context.record();
        const Time until = context.window_end();
        Time next = never;
        if (events.size() == 1) [[likely]] {
            const QueuedEvent& event = events.front();
            if (event.source != QueuedEvent::timer) [[likely]] {
                next = worker_.run_one(lp.state, delivery_.deliver(event, begins), until, context);
                delivery_.release(event);
            } else {
                lp.clear_timer_before(memory_.grid().cell_of(until));  // a timer alone needs no list of events
                next = worker_.run(lp.state, {}, until, context);
            }
        } else {
            const auto delivered = delivery_.deliver_all(lp, events, begins, until, memory_.grid());
            for (std::size_t i = 1; i < delivered.size(); ++i) {
                statistics_.counts.ties += delivered[i].time == delivered[i - 1].time ? 1 : 0;
            }
            next = worker_.run(lp.state, delivered, until, context);
            for (const QueuedEvent& event : events) {
                delivery_.release(event);
            }
        }
        if (next != never) {
            set_timer(lp, slot, next);
        }
    }

    /// Sets a timer, so that the LP is executed in the cell of `time`, unless an earlier one is set.
    void set_timer(Lp<State>& lp, std::uint32_t slot, Time time) {
        if (time != never && lp.needs_timer(memory_.grid().cell_of(time))) {
            calendar_.push(time, slot, QueuedEvent::timer, 0, 0);
        }
    }

    [[gnu::always_inline]] static void fetch(const Lp<State>& lp) {
        constexpr std::size_t line = 64;
        const auto* bytes = reinterpret_cast<const char*>(&lp);
        for (std::size_t byte = 0; byte < std::min<std::size_t>(sizeof(Lp<State>), 8 * line); byte += line) {
            __builtin_prefetch(bytes + byte, 1);
        }
    }

    M& model_;
    ProcessMemory<M>& memory_;
    std::uint32_t thread_;
    CalendarQueue calendar_;
    BlockEvents block_;
    PayloadPool<Payload> payloads_;
    Worker worker_;
    Delivery<M> delivery_;
    ProcessLink<M> link_;
    CommittedRecords<M> records_;
    PartitionStatistics statistics_;
    std::uint64_t executed_ = 0;
    std::uint64_t from_others_ = 0;  ///< events that other threads of the process sent
};

}  // namespace idlewave::pdes
