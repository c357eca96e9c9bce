#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/pinned.hpp"
#include "base/time.hpp"
#include "pdes/block_events.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/chunks.hpp"
#include "pdes/committed_records.hpp"
#include "pdes/delivery.hpp"
#include "pdes/event.hpp"
#include "pdes/execution_check.hpp"
#include "pdes/gvt.hpp"
#include "pdes/lp_layout.hpp"
#include "pdes/lps.hpp"
#include "pdes/message_batch.hpp"
#include "pdes/model.hpp"
#include "pdes/model_errors.hpp"
#include "pdes/outbox.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_snapshot.hpp"
#include "pdes/partition_statistics.hpp"
#include "pdes/payload_store.hpp"
#include "pdes/placement.hpp"
#include "pdes/snapshot.hpp"
#include "pdes/threads.hpp"
#include "pdes/window_agreement.hpp"

namespace idlewave::pdes {

/// The conservative scheduler (YAWNS; D. M. Nicol: The cost of conservative synchronization in parallel discrete event
/// simulations, JACM 40(2), 1993). It executes one window of the lookahead after the other, and within a window one LP
/// after the other. An event that an LP sends in a window reaches no LP within that window, so neither the order of LPs
/// nor the number of threads matters. On one thread it is the sequential scheduler of models with a lookahead.
///
/// A window begins at the earliest pending event. Each thread writes the events that it sends to LPs of its process
/// into a calendar of its own, and reads the buckets of its blocks out of all calendars, so no lock is needed. Events
/// for other processes go in message batches, and all of them arrive before the next window begins: the processes agree
/// on it in a round of GVT.
template <WindowModel M, class Transport>
class ConservativeScheduler {
  public:
    using Payload = typename M::Payload;
    using State = typename M::State;
    using Worker = typename M::Worker;
    using Emitted = typename EmittedOf<M>::Type;
    using Endpoint = typename Transport::Endpoint;
    using Poll = std::function<void(Time)>;

    /// `placement`: of the LPs on as many partitions as the transport connects, a thread each. The model has a
    /// lookahead.
    ConservativeScheduler(M& model, const Placement& placement, Transport& transport, const PartitionOptions& options,
                          bool pin = false)
        : model_(model),
          placement_(placement),
          first_(transport.first()),
          processes_(transport.partitions() > transport.threads()),
          options_(options),
          pin_(pin),
          agreement_(transport.threads()),
          grid_(options.cell > 0 ? std::min(options.cell, model.lookahead()) : model.lookahead(),
                lps_here(placement, transport), transport.threads()),
          layout_(placement, transport.first(), transport.threads(), grid_.block_shift,
                  !processes_ && placement.is_default() && options.migrate_after == 0),
          lps_(std::make_unique<Lps<State>>(layout_.slots())) {
        grid_.cover(layout_.slots());
        for (std::uint32_t i = 0; i < transport.threads(); ++i) {
            endpoints_.push_back(std::make_unique<Endpoint>(transport, i));
            threads_.push_back(std::make_unique<Thread>(*this, i, *endpoints_[i], transport.partitions()));
            calendars_.push_back(&threads_.back()->calendar);
        }
    }

    /// Makes all LPs, which start and do what they do in the first window.
    void begin() {
        on_all([this](Thread& thread) {
            Context context = context_until(thread, grid_.begin_of(grid_.window_cells));
            for (std::uint32_t block = 0; block < grid_.blocks; ++block) {
                if (layout_.owner_of(block) == thread.number) {
                    begin_block(thread, context, block);
                }
            }
            thread.next = thread.calendar.first(grid_.window_cells);
        });
    }

    /// Restores the LPs and events of this process: from the snapshot, which has the sections of each partition, and
    /// from sections that may be for any.
    void restore(Snapshot& snapshot, std::span<const Snapshot::Section> sections) {
        const std::int64_t from = grid_.cell_of(options_.from);
        on_all([&](Thread& thread) {
            thread.calendar.advance(from);
            const Contents contents = contents_of(thread);
            const auto push = [&](const PendingEvent& event) {
                thread.calendar.push(event.time, event.lp, event.source, event.sequence, event.code);
            };
            const auto timer = [&](std::uint32_t slot, Time time) { set_timer(thread, (*lps_)[slot], slot, time); };
            PartitionSnapshot<M>::restore(sections, contents, push, timer);
            for (std::uint32_t i = 0; i < threads_.size(); ++i) {
                if (layout_.round_robin() || i == thread.number) {
                    PartitionSnapshot<M>::restore(snapshot.of(first_ + i), contents, push, timer);
                }
            }
            std::uint32_t lps = 0;
            contents.each_lp([&](std::uint32_t /*slot*/, std::uint32_t /*lp*/) { ++lps; });
            PartitionSnapshot<M>::check(lps, thread.statistics.restored_lps);
            thread.next = thread.calendar.first(from);
        });
        for (std::uint32_t i = 0; i < threads_.size(); ++i) {
            snapshot.of(first_ + i).clear();
        }
    }

    /// Runs to the end, or until all pause. Throws what a model, a poll or an allocation throws, on whatever thread it
    /// happened. `poll` and `wants_pause` are called a few times a second on the caller's thread.
    void run(const Poll& poll, const std::function<bool()>& wants_pause = {}) {
        callbacks_ = {&poll, &wants_pause};
        on_all([this](Thread& thread) { work(thread); });
    }

    /// The state of this process's LPs and events, sorted by the partitions of the next segment.
    Snapshot save(const Placement& next) {
        Snapshot snapshot(next.partitions());
        for (const auto& thread : threads_) {
            const Contents contents = contents_of(*thread);
            PartitionSnapshot<M>::save_lps(next, snapshot, contents);
        }
        Thread& reader = *threads_.front();
        for (std::int64_t cell = first_cell(agreed_.cell); cell != CalendarQueue::none; cell = first_cell(cell)) {
            if (!reader.calendar.is_near(cell)) {
                for (CalendarQueue* calendar : calendars_) {
                    calendar->advance(cell);
                }
                continue;
            }
            save_cell(cell, reader, next, snapshot);
        }
        return snapshot;
    }

    [[nodiscard]] bool at_end() const { return agreed_.cell == CalendarQueue::none; }
    [[nodiscard]] bool paused_for_migration() const { return is_imbalanced(agreed_); }
    [[nodiscard]] Time paused_at() const { return grid_.begin_of(agreed_.cell); }

    /// Adds the events that groups of `group` neighbouring LPs received.
    void add_weights(std::span<std::uint64_t> weights, std::uint32_t group) const {
        for (const auto& thread : threads_) {
            each_slot(*thread, [&](std::uint32_t slot) {
                weights[layout_.lp_of(slot) / group] += thread->statistics.communication.received(slot);
            });
        }
    }
    void add_between(std::span<std::uint64_t> sum) const {
        for (const auto& thread : threads_) {
            thread->statistics.communication.add_between(sum);
        }
    }

    /// Calls `use` with each thread's worker.
    template <class Use>
    void each_worker(Use use) {
        for (const auto& thread : threads_) {
            use(thread->worker);
        }
    }
    /// Calls `use` with the worker, the number and the state of each LP of this process.
    template <class Use>
    void each_lp_of_worker(Use use) {
        for (const auto& thread : threads_) {
            each_slot(*thread,
                      [&](std::uint32_t slot) { use(thread->worker, layout_.lp_of(slot), (*lps_)[slot].state); });
        }
    }
    template <class Use>
    void each_lp(Use use) const {
        for (const auto& thread : threads_) {
            each_slot(*thread, [&](std::uint32_t slot) { use(layout_.lp_of(slot), std::as_const(*lps_)[slot].state); });
        }
    }
    /// Calls `use` with all emitted records that were kept, those of an LP in its order.
    template <class Use>
    void each_emitted(Use use) const {
        for (const auto& thread : threads_) {
            for (const Emitted& emitted : thread->records.output()) {
                use(emitted);
            }
        }
    }

    /// The LPs, by slot, which outlive the scheduler then; on one process without a placement the slot is the number.
    [[nodiscard]] std::unique_ptr<Lps<State>> take_lps() { return std::move(lps_); }

    [[nodiscard]] Statistics statistics() {
        Statistics sum;
        for (const auto& thread : threads_) {
            Statistics& counts = thread->statistics.counts;
            counts.committed = thread->worker.executed();
            counts.gvt_rounds = thread->rounds;
            counts.message_batches = thread->outbox.batches();
            counts.remote_events = thread->outbox.events() + thread->from_others;
            sum += counts;
        }
        return sum;
    }
    [[nodiscard]] std::vector<ProgressSample> series() const {
        std::vector<ProgressSample> sum;
        for (const auto& thread : threads_) {
            add_samples(sum, thread->statistics.series.samples());
        }
        return sum;
    }

  private:
    static constexpr std::uint64_t poll_interval = 1 << 14;  ///< events of the caller's thread
    static constexpr std::uint64_t poll_windows = 1 << 6;

    /// What the caller's thread asks of others while it runs.
    struct Callbacks {
        const Poll* poll = nullptr;
        const std::function<bool()>* wants_pause = nullptr;
        std::uint64_t events = 0;  ///< since the last poll
    };

    /// Memory that all threads share.
    struct Memory {
        ChunkStore chunks;
        PayloadStore<Payload> payloads;
    };

    struct Thread {
        Thread(ConservativeScheduler& scheduler, std::uint32_t number_, Endpoint& endpoint, std::uint32_t partitions)
            : number(number_),
              calendar(scheduler.grid_, scheduler.memory_.chunks),
              block(scheduler.grid_),
              payloads(scheduler.memory_.payloads),
              worker(scheduler.model_),
              delivery(scheduler.model_, payloads),
              gvt(scheduler.grid_.cell_of(scheduler.options_.from)),
              outbox(partitions, endpoint, gvt),
              statistics(scheduler.options_, scheduler.layout_.slots(), scheduler.placement_.lps()) {}

        std::uint32_t number;
        CalendarQueue calendar;
        BlockEvents block;
        PayloadPool<Payload> payloads;
        Worker worker;
        Delivery<M> delivery;
        Gvt gvt;
        Outbox<Payload, Endpoint> outbox;
        CommittedRecords<M> records;
        PartitionStatistics statistics;
        std::int64_t next = 0;          ///< cell of the earliest event of its calendar
        std::uint64_t rounds = 0;       ///< windows
        std::uint64_t executed = 0;     ///< events
        std::uint64_t from_others = 0;  ///< events that other threads of the process sent
        bool wants_pause = false;
    };

    /// The context of a model while it executes an LP.
    struct Context {
        ConservativeScheduler& scheduler;
        Thread& thread;
        Time window_end;
        std::uint32_t lps;  ///< of the run; with the next member a copy close at hand, as each event reads it
        bool round_robin;
        std::uint32_t lp = 0;
        Lp<State>* record = nullptr;
        static constexpr void* undo_data = nullptr;  ///< nothing is rolled back

        [[nodiscard]] std::uint32_t self() const { return lp; }
        [[nodiscard]] std::uint32_t sent() const { return record->sequence; }

        [[gnu::always_inline]] void send(std::uint32_t destination, Time time, std::uint16_t code) {
            std::uint32_t slot = destination;
            if (check(destination, time) && !scheduler.find_slot(destination, slot)) [[unlikely]] {
                scheduler.send_remote(thread, destination, {time, 0, lp, record->sequence, code});
            } else {
                thread.calendar.push(time, slot, lp, record->sequence, code);
            }
            count();
        }

        /// `payload`: arguments of a Payload's constructor, which makes it in its place.
        template <class... Arguments>
        [[gnu::always_inline]] void send(std::uint32_t destination, Time time, const Arguments&... payload) {
            std::uint32_t slot = destination;
            if (check(destination, time) && !scheduler.find_slot(destination, slot)) [[unlikely]] {
                scheduler.send_remote(thread, destination, {time, 0, lp, record->sequence, QueuedEvent::pooled},
                                      Payload(payload...));
            } else {
                const std::uint32_t pooled = thread.payloads.put(record->sequence, payload...);
                thread.calendar.push(time, slot, lp, pooled, QueuedEvent::pooled);
            }
            count();
        }

        void emit(const Emitted& emitted) { thread.records.commit(thread.worker, emitted); }

      private:
        /// Returns whether the slot differs from the LP's number.
        [[gnu::always_inline]] bool check(std::uint32_t destination, Time time) const {
            if (time < window_end || destination >= lps) [[unlikely]] {
                throw_invalid_send(lp, destination, time, lps, "that violates the lookahead");
            }
            return !round_robin;
        }
        [[gnu::always_inline]] void count() const {
            if (++record->sequence == 0) [[unlikely]] {
                throw_too_many_events(lp);
            }
        }
    };

    /// What a snapshot reads and writes of a partition; an LP's index is its slot.
    struct Contents {
        const ConservativeScheduler& scheduler;
        std::uint32_t thread;
        Worker& worker;
        Lps<State>& lps;
        PayloadPool<Payload>& payloads;
        std::vector<Emitted>& output;
        std::uint32_t& restored_lps;

        [[nodiscard]] bool has(std::uint32_t lp) const {
            check_snapshot_lp(lp, scheduler.placement_.lps());
            return scheduler.layout_.owns(thread, lp);
        }
        [[nodiscard]] std::uint32_t index_of(std::uint32_t lp) const { return scheduler.layout_.slot_of(lp); }
        template <class Use>
        void each_lp(Use use) const {
            scheduler.each_slot(*scheduler.threads_[thread],
                                [&](std::uint32_t slot) { use(slot, scheduler.layout_.lp_of(slot)); });
        }
    };

    [[nodiscard]] static std::uint32_t lps_here(const Placement& placement, const Transport& transport) {
        std::uint32_t lps = 0;
        for (std::uint32_t i = 0; i < transport.threads(); ++i) {
            lps += placement.size(transport.first() + i);
        }
        return lps;
    }

    [[nodiscard]] Contents contents_of(Thread& thread) {
        return {*this,
                thread.number,
                thread.worker,
                *lps_,
                thread.payloads,
                thread.records.output(),
                thread.statistics.restored_lps};
    }

    template <class Use>
    void each_slot(const Thread& thread, Use use) const {
        for (std::uint32_t block = 0; block < grid_.blocks; ++block) {
            if (layout_.owner_of(block) == thread.number) {
                const std::uint32_t first = block << grid_.block_shift;
                for (std::uint32_t slot = first; slot < first + layout_.lps_of(block); ++slot) {
                    use(slot);
                }
            }
        }
    }

    /// Sets the slot of an LP of this process; returns whether it is one.
    [[gnu::always_inline]] bool find_slot(std::uint32_t lp, std::uint32_t& slot) const {
        const Placement::Position position = placement_.of(lp);
        if (!layout_.has(position.partition)) [[unlikely]] {
            return false;
        }
        slot = layout_.slot_of(position);
        return true;
    }

    // ---- threads

    /// Runs `work` on all threads, this one among them.
    template <class Work>
    void on_all(Work work) {
        be_ready_for_exceptions();
        FirstError error;
        StartingGate gate;
        const auto guarded = [&](std::uint32_t i) {
            std::optional<Pinned> pinned;
            if (pin_) {
                pinned.emplace(first_ + i);
            }
            try {
                work(*threads_[i]);
            } catch (...) {
                error.record(std::current_exception());
                endpoints_[i]->abort();
            }
        };
        std::vector<std::thread> others;
        try {
            for (std::uint32_t i = 1; i < threads_.size(); ++i) {
                others.emplace_back([i, &gate, &guarded] {
                    be_ready_for_exceptions();
                    if (gate.wait()) {
                        guarded(i);
                    }
                });
            }
            gate.open(true);
            guarded(0);
        } catch (const std::system_error& failure) {
            gate.open(false);
            error.record(std::make_exception_ptr(InputError("only " + std::to_string(others.size() + 1) + " of " +
                                                            std::to_string(threads_.size()) +
                                                            " threads could be started: " + failure.what())));
        } catch (const std::bad_alloc&) {
            gate.open(false);
            error.record(std::current_exception());
        }
        for (std::thread& other : others) {
            other.join();
        }
        error.rethrow();
        error_.rethrow();
    }

    /// A thread's work from beginning to end. It leaves only when all do.
    void work(Thread& thread) {
        std::int64_t next = thread.next;
        while (true) {
            const WindowCandidate agreed = agree(thread, next);
            const std::int64_t cell = agreed.cell;
            if (cell == WindowCandidate::failed || cell == CalendarQueue::none || agreed.wants_pause ||
                is_imbalanced(agreed)) {
                thread.next = cell;
                if (thread.number == 0) {
                    agreed_ = agreed;
                }
                return;
            }
            try {
                const bool exact = thread.calendar.is_near(cell);
                thread.calendar.advance(cell);
                next = thread.calendar.first(exact ? window(thread, cell) : cell);
            } catch (...) {
                error_.record(std::current_exception());
                next = WindowCandidate::failed;
            }
        }
    }

    /// Agrees with all threads and processes on the next window.
    WindowCandidate agree(Thread& thread, std::int64_t next) {
        const WindowCandidate own{.cell = next, .executed = thread.executed, .wants_pause = thread.wants_pause};
        if (processes_) {
            return agree_with_processes(thread, own);
        }
        const WindowCandidate agreed = agreement_.agree(thread.number, thread.rounds, own);
        ++thread.rounds;
        return agreed;
    }

    /// A round of GVT, which ends when all events for this process have arrived.
    [[gnu::noinline]] WindowCandidate agree_with_processes(Thread& thread, WindowCandidate own) {
        Endpoint& endpoint = *endpoints_[thread.number];
        if (own.cell == WindowCandidate::failed) {
            endpoint.abort();
            return own;
        }
        const auto contribution = [&] {
            return Gvt::Contribution{.first_pending = own.cell,
                                     .executed = static_cast<std::int64_t>(own.executed),
                                     .wants_pause = own.wants_pause};
        };
        thread.outbox.flush();
        thread.gvt.begin_round(endpoint, contribution());
        constexpr std::uint32_t patience = 1 << 10;  // polls, after which the thread yields its processor
        for (std::uint32_t polls = 0; !endpoint.aborted(); ++polls) {
            own.cell = std::min(own.cell, receive_batches(thread, endpoint));
            if (thread.gvt.poll(endpoint, contribution)) {
                const Cut& cut = thread.gvt.cut();
                ++thread.rounds;
                return {.cell = thread.gvt.cell(),
                        .executed = static_cast<std::uint64_t>(cut.executed),
                        .busiest = static_cast<std::uint64_t>(-cut.busiest),
                        .wants_pause = cut.continues == 0};
            }
            if (polls > patience) {
                std::this_thread::yield();
            }
        }
        own.cell = WindowCandidate::failed;
        return own;
    }

    /// Receives events from other processes; returns the cell of the earliest.
    std::int64_t receive_batches(Thread& thread, Endpoint& endpoint) {
        std::int64_t earliest = CalendarQueue::none;
        while (MessageBatch<Payload>* batch = endpoint.receive()) {
            thread.gvt.count_received_batch(batch->epoch);
            auto payload = batch->payloads.begin();
            for (PendingEvent& event : batch->events) {
                if (event.code == QueuedEvent::pooled) {
                    take_payload<M>(event, *payload++, thread.worker, thread.payloads);
                }
                const std::uint32_t slot = layout_.slot_of(Placement::Position{first_ + thread.number, event.lp});
                thread.calendar.push(event.time, slot, event.source, event.sequence, event.code);
                earliest = std::min(earliest, grid_.cell_of(event.time));
            }
            endpoint.release(batch);
        }
        return earliest;
    }

    /// Whether one thread executes so many more events than the others that LPs should migrate.
    [[nodiscard]] bool is_imbalanced(const WindowCandidate& agreed) const {
        return options_.migrate_after > 0 && agreed.executed >= options_.migrate_after &&
               static_cast<double>(agreed.busiest) * placement_.partitions() >
                   options_.imbalance * static_cast<double>(agreed.executed);
    }

    // ---- windows

    [[nodiscard]] Context context_until(Thread& thread, Time window_end) {
        return {*this, thread, window_end, placement_.lps(), layout_.round_robin()};
    }

    void begin_block(Thread& thread, Context& context, std::uint32_t block) {
        const std::uint32_t first = block << grid_.block_shift;
        const std::uint32_t lps = layout_.lps_of(block);
        for (std::uint32_t slot = first; slot < first + lps; ++slot) {
            Lp<State>& lp = lps_->make(slot);
            context.lp = layout_.lp_of(slot);
            context.record = &lp;
            set_timer(thread, lp, slot, thread.worker.start(lp.state, context.window_end, context));
        }
    }

    /// Executes the window that begins with the cell `first`; returns the cell after its last one.
    std::int64_t window(Thread& thread, std::int64_t first) {
        const std::int64_t row_end = (first / Grid::row + 1) * Grid::row;
        const std::int64_t last = std::min(first + grid_.window_cells, row_end);
        Context context = context_until(thread, grid_.begin_of(last));
        const Time begins = grid_.begin_of(first);
        for (std::size_t word = 0; word < thread.calendar.words(); ++word) {
            std::uint64_t blocks = occupied(word, first, last);
            for (; blocks != 0; blocks &= blocks - 1) {
                const auto block = static_cast<std::uint32_t>(word * 64 + std::countr_zero(blocks));
                if (layout_.owner_of(block) == thread.number) {
                    thread.from_others += thread.block.gather(calendars_, thread.number, block, first, last);
                    execute_block(thread, context, block << grid_.block_shift, begins);
                    thread.executed += thread.block.size();
                    poll(thread, begins, thread.block.size());
                }
            }
        }
        finish_window(thread, begins);
        return last;
    }

    [[nodiscard]] std::uint64_t occupied(std::size_t word, std::int64_t first, std::int64_t last) const {
        std::uint64_t blocks = 0;
        for (const CalendarQueue* calendar : calendars_) {
            for (std::int64_t cell = first; cell < last; ++cell) {
                blocks |= calendar->has(cell) ? calendar->blocks_of(cell)[word] : 0;
            }
        }
        return blocks;
    }

    void execute_block(Thread& thread, Context& context, std::uint32_t first_slot, Time begins) {
        constexpr std::size_t prefetch_distance = BlockEvents::margin;
        constexpr std::size_t ahead = 8;
        const std::span<const QueuedEvent> events = thread.block.events();
        // The LPs of a block are neighbours in their partition, but their numbers need not be.
        const bool round_robin = context.round_robin;
        const bool is_looked_at = options_.check || thread.statistics.communication.counts();
        const auto number_of = [&](std::uint32_t index) {
            return round_robin ? first_slot + index : layout_.lp_of(first_slot + index);
        };
        Lp<State>* const block = &(*lps_)[first_slot];
        const QueuedEvent* event = events.data();
        const QueuedEvent* const end = event + events.size();
        while (event != end) {
            fetch(block[event[prefetch_distance].lp]);
            if (event[prefetch_distance].code == QueuedEvent::pooled) {
                thread.payloads.prefetch(event[prefetch_distance].sequence);
            }
            const std::uint32_t soon = event[ahead].lp;
            thread.worker.prefetch(block[soon].state, number_of(soon));
            const QueuedEvent* const first = event++;
            context.lp = number_of(first->lp);
            context.record = &block[first->lp];
            while (event != end && event->lp == first->lp) {
                ++event;
            }
            const std::uint32_t slot = first_slot + first->lp;
            if (is_looked_at) [[unlikely]] {
                look_at(thread, context, slot, std::span(first, event), begins);
            }
            execute(thread, context, slot, std::span(first, event), begins);
        }
    }

    /// Executes an LP in the window: its events, and what it does by itself. Most often it has one event.
    [[gnu::always_inline]] void execute(Thread& thread, Context& context, std::uint32_t slot,
                                        std::span<const QueuedEvent> events, Time begins) {
        Lp<State>& lp = *context.record;
        Time next = never;
        if (events.size() == 1 && events.front().source != QueuedEvent::timer) [[likely]] {
            next = thread.worker.run_one(lp.state, thread.delivery.deliver(events.front(), begins), context.window_end,
                                         context);
            thread.delivery.release(events.front());
        } else {
            const auto delivered = thread.delivery.deliver_all(lp, events, begins, context.window_end, grid_);
            for (std::size_t i = 1; i < delivered.size(); ++i) {
                thread.statistics.counts.ties += delivered[i].time == delivered[i - 1].time ? 1 : 0;
            }
            next = thread.worker.run(lp.state, delivered, context.window_end, context);
            for (const QueuedEvent& event : events) {
                thread.delivery.release(event);
            }
        }
        if (next != never) {
            set_timer(thread, lp, slot, next);
        }
    }

    /// Counts the events of an LP for migration, and checks its model, where that is asked for.
    [[gnu::noinline]] void look_at(Thread& thread, const Context& context, std::uint32_t slot,
                                   std::span<const QueuedEvent> events, Time begins) {
        if (thread.statistics.communication.counts()) {
            thread.statistics.communication.count(slot, context.lp, events);
        }
        if constexpr (conservative_only<M>) {
            return;
        } else if (options_.check) {
            Lp<State>& lp = *context.record;
            const std::uint32_t timer = lp.timer;
            check_execution<M>(thread.worker, lp, context.lp,
                               thread.delivery.deliver_all(lp, events, begins, context.window_end, grid_), begins,
                               context.window_end);
            lp.timer = timer;
        }
    }

    /// Sets a timer, so that the LP is executed in the cell of `time`, unless an earlier one is set.
    void set_timer(Thread& thread, Lp<State>& lp, std::uint32_t slot, Time time) {
        if (time != never && lp.needs_timer(grid_.cell_of(time))) {
            thread.calendar.push(time, slot, QueuedEvent::timer, 0, 0);
        }
    }

    [[gnu::always_inline]] static void fetch(const Lp<State>& lp) {
        constexpr std::size_t line = 64;
        const auto* bytes = reinterpret_cast<const char*>(&lp);
        for (std::size_t byte = 0; byte < std::min<std::size_t>(sizeof(Lp<State>), 8 * line); byte += line) {
            __builtin_prefetch(bytes + byte, 1);
        }
    }

    /// Sends an event to another process, which may not know the code: with its payload.
    [[gnu::noinline]] void send_remote(Thread& thread, std::uint32_t destination, PendingEvent event) {
        if constexpr (assigns_codes<M>) {
            const Payload& payload = model_.payload(event.code);
            event.code = QueuedEvent::pooled;
            send_remote(thread, destination, event, payload);
        } else {
            const Placement::Position position = placement_.of(destination);
            event.lp = position.local;
            thread.outbox.send(position.partition, event, grid_.cell_of(event.time));
        }
    }
    [[gnu::noinline]] void send_remote(Thread& thread, std::uint32_t destination, PendingEvent event,
                                       const Payload& payload) {
        const Placement::Position position = placement_.of(destination);
        event.lp = position.local;
        thread.outbox.send(position.partition, event, grid_.cell_of(event.time), payload);
    }

    /// Only the caller's thread polls, since the poll may call a Python interpreter.
    void poll(Thread& thread, Time now, std::uint64_t events) {
        if (thread.number != 0) {
            return;
        }
        callbacks_.events += events;
        if (callbacks_.events >= poll_interval) {
            ask_caller(thread, now);
        }
    }

    [[gnu::noinline]] void ask_caller(Thread& thread, Time now) {
        callbacks_.events = 0;
        try {
            if (*callbacks_.poll) {
                (*callbacks_.poll)(now);
            }
            thread.wants_pause = *callbacks_.wants_pause && (*callbacks_.wants_pause)();
        } catch (...) {
            error_.prefer(std::current_exception());
            throw;
        }
    }

    /// After a window: polls after many windows with few events, and samples the progress.
    void finish_window(Thread& thread, Time now) {
        if (thread.number == 0 && thread.rounds % poll_windows == 0) {
            ask_caller(thread, now);
        }
        if (thread.statistics.series.is_next()) {
            thread.statistics.counts.committed = thread.worker.executed();
            thread.statistics.add_sample(now, 0);
        }
    }

    // ---- snapshots

    [[nodiscard]] std::int64_t first_cell(std::int64_t from) const {
        std::int64_t first = CalendarQueue::none;
        for (const CalendarQueue* calendar : calendars_) {
            first = std::min(first, calendar->first(from));
        }
        return first;
    }

    void save_cell(std::int64_t cell, Thread& reader, const Placement& next, Snapshot& snapshot) {
        for (std::uint32_t block = 0; block < grid_.blocks; ++block) {
            reader.block.gather(calendars_, reader.number, block, cell, cell + 1);
            const Time begins = grid_.begin_of(cell);
            for (const QueuedEvent& event : reader.block.events()) {
                const std::uint32_t lp = layout_.lp_of((block << grid_.block_shift) + event.lp);
                PartitionSnapshot<M>::save_queued(event, lp, begins, reader.delivery,
                                                  snapshot.open(next.of(lp).partition));
            }
        }
        for (CalendarQueue* calendar : calendars_) {
            calendar->clear(cell);
        }
    }

    M& model_;
    const Placement& placement_;
    std::uint32_t first_;  ///< number of the first partition of this process
    bool processes_;       ///< there are other processes
    PartitionOptions options_;
    bool pin_;
    WindowAgreement agreement_;
    Grid grid_;
    LpLayout layout_;
    std::unique_ptr<Lps<State>> lps_;
    Memory memory_;
    FirstError error_;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<CalendarQueue*> calendars_;
    WindowCandidate agreed_;
    Callbacks callbacks_;
};

}  // namespace idlewave::pdes
