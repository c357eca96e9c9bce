#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "pdes/block_events.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/chunks.hpp"
#include "pdes/delivery.hpp"
#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/model_errors.hpp"
#include "pdes/payload_store.hpp"
#include "pdes/threads.hpp"

namespace idlewave::pdes {

/// The conservative scheduler (YAWNS; D. M. Nicol: The cost of conservative synchronization in parallel discrete event
/// simulations, JACM 40(2), 1993). It executes one window of the lookahead after the other, and within a window one LP
/// after the other. An event that an LP sends in a window reaches no LP within that window, so neither the order of LPs
/// nor the number of threads matters.
///
/// A window begins at the earliest pending event. Blocks of LPs belong to threads. Each thread writes the events that
/// it sends into a calendar of its own, and reads the buckets of its blocks out of all calendars, so no lock is needed.
template <WindowModel M>
class ConservativeScheduler {
  public:
    using Payload = typename M::Payload;
    using Poll = std::function<void(Time)>;

    ConservativeScheduler(M& model, Lps<typename M::State>& lps, std::uint32_t threads, const Poll& poll)
        : barrier_(threads), model_(model), lps_(lps), poll_(poll), grid_(model.lookahead(), lps.size(), threads) {
        for (std::uint32_t i = 0; i < threads; ++i) {
            threads_.push_back(std::make_unique<Thread>(*this, i));
            calendars_.push_back(&threads_.back()->calendar);
        }
        for (auto& candidates : candidates_) {
            candidates.resize(threads);
        }
    }

    /// Runs to the end. Throws what a model, a poll or an allocation throws, on whatever thread it happened.
    void run() {
        be_ready_for_exceptions();
        StartingGate gate;
        std::vector<std::thread> others;
        try {
            for (std::uint32_t i = 1; i < threads_.size(); ++i) {
                others.emplace_back([this, i, &gate] {
                    be_ready_for_exceptions();
                    if (gate.wait()) {
                        work(*threads_[i]);
                    }
                });
            }
            gate.open(true);
            work(*threads_[0]);
        } catch (const std::system_error& error) {
            gate.open(false);
            error_.keep(std::make_exception_ptr(InputError("only " + std::to_string(others.size() + 1) + " of " +
                                                           std::to_string(threads_.size()) +
                                                           " threads could be started: " + error.what())));
        } catch (const std::bad_alloc&) {
            gate.open(false);
            error_.keep(std::current_exception());
        }
        for (std::thread& other : others) {
            other.join();
        }
        error_.rethrow();
    }

    /// The worker that has simulated `lp`.
    typename M::Worker& worker_of(std::uint32_t lp) {
        return threads_[(lp >> grid_.block_shift) % threads_.size()]->worker;
    }

    /// Calls `use` with the worker of each thread.
    template <class Use>
    void each_worker(Use use) {
        for (auto& thread : threads_) {
            use(thread->worker);
        }
    }

  private:
    static constexpr std::int64_t stop = -1;
    static constexpr std::uint64_t poll_interval = 1 << 14;

    struct Thread {
        Thread(ConservativeScheduler& scheduler, std::uint32_t number_)
            : number(number_),
              calendar(scheduler.grid_, scheduler.chunks_),
              batch(scheduler.grid_),
              payloads(scheduler.payloads_),
              worker(scheduler.model_),
              delivery(scheduler.model_, payloads) {}

        std::uint32_t number;
        CalendarQueue calendar;
        BlockEvents batch;
        PayloadPool<Payload> payloads;
        typename M::Worker worker;
        Delivery<M> delivery;
        std::uint64_t executed = 0;
        unsigned round = 0;  ///< which of the two rows of candidates is next
    };

    /// The context of a model while it executes an LP.
    struct Context {
        ConservativeScheduler& scheduler;
        Thread& thread;
        Time window_end;
        std::uint32_t lp = 0;
        Lp<typename M::State>* record = nullptr;

        [[nodiscard]] std::uint32_t self() const { return lp; }
        /// Number of events that the LP has sent.
        [[nodiscard]] std::uint32_t sent() const { return record->sequence; }

        [[gnu::always_inline]] void send(std::uint32_t destination, Time time, std::uint16_t code) {
            check(destination, time);
            thread.calendar.push(time, destination, lp, record->sequence, code);
            count();
        }

        /// `payload`: arguments of a Payload's constructor, which makes it in its place.
        template <class... Parts>
        [[gnu::always_inline]] void send(std::uint32_t destination, Time time, const Parts&... payload) {
            check(destination, time);
            const std::uint32_t slot = thread.payloads.put(record->sequence, payload...);
            thread.calendar.push(time, destination, lp, slot, QueuedEvent::pooled);
            count();
        }

        [[gnu::always_inline]] void check(std::uint32_t destination, Time time) const {
            if (time < window_end || destination >= scheduler.lps_.size()) [[unlikely]] {
                throw_invalid_send(lp, destination, time, scheduler.lps_.size(),
                                   "that violates the lookahead, since it lies in its own window");
            }
        }

        [[gnu::always_inline]] void count() const {
            if (++record->sequence == 0) [[unlikely]] {
                throw_too_many_events(lp);
            }
        }
    };

    /// A thread's work from beginning to end. It leaves only when all do.
    void work(Thread& thread) {
        std::int64_t next = 0;
        try {
            begin(thread);
            next = thread.calendar.first(grid_.window_cells);
        } catch (...) {
            error_.keep(std::current_exception());
            next = stop;
        }
        while (true) {
            const std::int64_t cell = earliest(thread, next);
            if (cell == stop || cell == CalendarQueue::none) {
                return;
            }
            try {
                const bool exact = thread.calendar.is_near(cell);
                thread.calendar.advance(cell);
                next = thread.calendar.first(exact ? window(thread, cell) : cell);
            } catch (...) {
                error_.keep(std::current_exception());
                next = stop;
            }
        }
    }

    /// Waits for all threads; returns the earliest of their cells.
    std::int64_t earliest(Thread& thread, std::int64_t mine) {
        std::vector<Candidate>& candidates = candidates_[thread.round];
        thread.round ^= 1;
        if (threads_.size() == 1) {
            return mine;
        }
        candidates[thread.number].cell = mine;
        barrier_.wait();
        std::int64_t least = mine;
        for (const Candidate& candidate : candidates) {
            least = std::min(least, candidate.cell);
        }
        return least;
    }

    [[nodiscard]] bool owns(const Thread& thread, std::uint32_t block) const {
        return threads_.size() == 1 || block % threads_.size() == thread.number;
    }

    /// Executes the first window, in which every LP starts.
    void begin(Thread& thread) {
        Context context{*this, thread, grid_.begin_of(grid_.window_cells)};
        for (std::uint32_t block = 0; block < grid_.blocks; ++block) {
            if (!owns(thread, block)) {
                continue;
            }
            const std::uint32_t first = block << grid_.block_shift;
            const std::uint32_t last = std::min(lps_.size() - first, grid_.block_size()) + first;
            for (std::uint32_t i = first; i < last; ++i) {
                Lp<typename M::State>& lp = lps_.make(i);
                context.lp = i;
                context.record = &lp;
                const Time next = thread.worker.start(lp.state, context.window_end, context);
                if (next != never) {
                    set_timer(thread, lp, i, next);
                }
            }
            poll(thread, 0, last - first);
        }
    }

    /// Executes the window that begins with the cell `first`; returns the cell after its last one.
    std::int64_t window(Thread& thread, std::int64_t first) {
        const std::int64_t row_end = (first / Grid::row + 1) * Grid::row;
        const std::int64_t last = std::min(first + grid_.window_cells, row_end);
        Context context{*this, thread, grid_.begin_of(last)};
        const Time begins = grid_.begin_of(first);
        for (std::size_t word = 0; word < thread.calendar.words(); ++word) {
            std::uint64_t blocks = occupied(word, first, last);
            for (; blocks != 0; blocks &= blocks - 1) {
                const auto block = static_cast<std::uint32_t>(word * 64 + std::countr_zero(blocks));
                if (owns(thread, block)) {
                    thread.batch.gather(calendars_, block, first, last, thread.calendar.chunks());
                    execute_block(thread, context, block << grid_.block_shift, begins);
                    poll(thread, begins, thread.batch.size());
                }
            }
        }
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

    void execute_block(Thread& thread, Context& context, std::uint32_t first_lp, Time begins) {
        constexpr std::size_t far_ahead = BlockEvents::margin;
        constexpr std::size_t ahead = 8;
        const std::span<const QueuedEvent> events = thread.batch.events();
        Lp<typename M::State>* const block = &lps_[first_lp];
        const QueuedEvent* event = events.data();
        const QueuedEvent* const end = event + events.size();
        while (event != end) {
            fetch(block[event[far_ahead].lp]);
            if (event[far_ahead].code == QueuedEvent::pooled) {
                thread.payloads.prefetch(event[far_ahead].sequence);
            }
            const std::uint32_t soon = event[ahead].lp;
            thread.worker.prefetch(block[soon].state, first_lp + soon);
            const QueuedEvent* const first = event++;
            context.lp = first_lp + first->lp;
            context.record = &block[first->lp];
            while (event != end && event->lp == first->lp) {
                ++event;
            }
            run_lp(thread, context, std::span(first, event), begins);
        }
    }

    /// Executes an LP in the window: its events, and what it does by itself. Most often it has one event.
    [[gnu::always_inline]] void run_lp(Thread& thread, Context& context, std::span<const QueuedEvent> group,
                                       Time begins) {
        Lp<typename M::State>& lp = *context.record;
        Time next = never;
        if (group.size() == 1 && group.front().source != QueuedEvent::timer) [[likely]] {
            next = thread.worker.run_one(lp.state, thread.delivery.deliver(group.front(), begins), context.window_end,
                                         context);
            thread.delivery.release(group.front());
        } else {
            next =
                thread.worker.run(lp.state, thread.delivery.deliver_all(lp, group, begins, context.window_end, grid_),
                                  context.window_end, context);
            for (const QueuedEvent& stored : group) {
                thread.delivery.release(stored);
            }
        }
        if (next != never) {
            set_timer(thread, lp, context.lp, next);
        }
    }

    /// Sets a timer, so that the LP is executed in the cell of `time`, unless an earlier one is set.
    void set_timer(Thread& thread, Lp<typename M::State>& lp, std::uint32_t number, Time time) {
        if (lp.needs_timer(grid_.cell_of(time))) {
            thread.calendar.push(time, number, QueuedEvent::timer, 0, 0);
        }
    }

    [[gnu::always_inline]] static void fetch(const Lp<typename M::State>& lp) {
        constexpr std::size_t line = 64;
        const auto* bytes = reinterpret_cast<const char*>(&lp);
        for (std::size_t byte = 0; byte < std::min<std::size_t>(sizeof(Lp<typename M::State>), 8 * line);
             byte += line) {
            __builtin_prefetch(bytes + byte, 1);
        }
    }

    /// Only the caller's thread polls, since the poll may call a Python interpreter.
    void poll(Thread& thread, Time now, std::uint64_t events) {
        thread.executed += events;
        if (thread.number == 0 && poll_ && thread.executed >= poll_interval) {
            thread.executed = 0;
            try {
                poll_(now);
            } catch (...) {
                error_.prefer(std::current_exception());
                throw;
            }
        }
    }

    struct alignas(64) Candidate {
        std::int64_t cell = 0;
    };

    Barrier barrier_;
    M& model_;
    Lps<typename M::State>& lps_;
    const Poll& poll_;
    Grid grid_;
    ChunkStore chunks_;
    PayloadStore<Payload> payloads_;
    FirstError error_;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<CalendarQueue*> calendars_;
    std::array<std::vector<Candidate>, 2> candidates_;
};

}  // namespace idlewave::pdes
