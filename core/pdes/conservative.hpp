#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/caller.hpp"
#include "pdes/conservative_partition.hpp"
#include "pdes/first_error.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/process_memory.hpp"
#include "pdes/progress_series.hpp"
#include "pdes/scheduler.hpp"
#include "pdes/snapshot.hpp"
#include "pdes/statistics.hpp"
#include "pdes/thread_choice.hpp"
#include "pdes/thread_team.hpp"
#include "pdes/window_agreement.hpp"

namespace idlewave::pdes {

/// The conservative scheduler (YAWNS; D. M. Nicol: The cost of conservative synchronization in parallel discrete event
/// simulations, JACM 40(2), 1993). It executes one window of the lookahead after the other, and within a window one LP
/// after the other. An event that an LP sends in a window reaches no LP within that window, so neither the order of LPs
/// nor the number of threads matters. On one thread it is the sequential scheduler of models with a lookahead.
///
/// Where threads wait longer for each other than a further one saves, the first executes the LPs of all (ThreadChoice).
///
/// A window begins at the earliest pending event. Each thread writes the events that it sends to LPs of its process
/// into a calendar of its own, and reads the buckets of its blocks out of all calendars, so no lock is needed. Events
/// for other processes go in message batches, and all of them arrive before the next window begins: the processes agree
/// on it in a round of GVT.
template <WindowModel M>
class ConservativeScheduler {
  public:
    using Transport = TransportOf<M>;
    using State = typename M::State;
    using Endpoint = EndpointOf<M>;

    /// `placement`: of the LPs on as many partitions as the transport connects, a thread each. The model has a
    /// lookahead.
    ConservativeScheduler(M& model, const Placement& placement, Transport& transport, const PartitionOptions& options)
        : agreement_(transport.threads()),
          placement_(placement),
          first_(transport.first()),
          processes_(transport.partitions() > transport.threads()),
          options_(options),
          team_(transport.threads(), transport.first(), options.pin),
          memory_(placement, options.cell > 0 ? std::min(options.cell, model.lookahead()) : model.lookahead(),
                  transport.first(), transport.threads(),
                  !processes_ && placement.is_default() && options.migrate_after == 0) {
        for (std::uint32_t i = 0; i < transport.threads(); ++i) {
            endpoints_.push_back(std::make_unique<Endpoint>(transport, i));
            threads_.push_back(
                std::make_unique<Thread>(model, memory_, i, *endpoints_[i], transport.partitions(), options));
        }
    }

    /// Makes all LPs, which start and do what they do in the first window.
    void begin() {
        on_all([](Thread& thread) { thread.next = thread.partition.begin(); });
    }

    /// Restores the LPs and events of this process: from the snapshot, which has the sections of each partition, and
    /// from sections that may be for any.
    void restore(Snapshot& snapshot, std::span<const Snapshot::Section> sections) {
        const std::int64_t from = memory_.grid().cell_of(options_.from);
        on_all([&](Thread& thread) {
            thread.partition.begin_restore(from);
            thread.partition.restore(sections);
            for (std::uint32_t i = 0; i < threads_.size(); ++i) {
                if (memory_.layout().round_robin() || i == thread.partition.thread()) {
                    thread.partition.restore(snapshot.of(first_ + i));
                }
            }
            thread.next = thread.partition.end_restore(from);
        });
        for (std::uint32_t i = 0; i < threads_.size(); ++i) {
            snapshot.of(first_ + i).clear();
        }
    }

    /// Runs to the end, or until all pause. Throws what a model, a poll or an allocation throws, on whatever thread it
    /// happened. `poll` and `wants_pause` are called a few times a second on the caller's thread.
    void run(const Caller::Poll& poll, const Caller::WantsPause& wants_pause = {}) {
        caller_.begin(poll, wants_pause);
        on_all([this](Thread& thread) { work(thread); });
    }

    /// The state of this process's LPs and events, sorted by the partitions of the next segment.
    Snapshot save(const Placement& next) {
        Snapshot snapshot(next.partitions());
        for (const auto& thread : threads_) {
            thread->partition.save_lps(next, snapshot);
        }
        threads_.front()->partition.save_events(agreed_.cell, next, snapshot);
        return snapshot;
    }

    [[nodiscard]] bool at_end() const { return agreed_.cell == CalendarQueue::none; }
    [[nodiscard]] bool paused_for_migration() const { return is_imbalanced(agreed_); }
    [[nodiscard]] Time paused_at() const { return memory_.grid().begin_of(agreed_.cell); }

    /// Adds the events that groups of `group` neighbouring LPs received.
    void add_weights(std::span<std::uint64_t> weights, std::uint32_t group) const {
        for (const auto& thread : threads_) {
            thread->partition.add_weights(weights, group);
        }
    }
    /// Adds the communication matrices of this process's threads.
    void add_between(std::span<std::uint64_t> sum) const {
        for (const auto& thread : threads_) {
            thread->partition.communication().add_between(sum);
        }
    }

    /// Calls `use` with each thread's worker.
    template <class Use>
    void each_worker(Use use) {
        for (const auto& thread : threads_) {
            use(thread->partition.worker());
        }
    }
    /// Calls `use` with the worker, the number and the state of each LP of this process.
    template <class Use>
    void each_lp_of_worker(Use use) {
        for (const auto& thread : threads_) {
            auto& worker = thread->partition.worker();
            thread->partition.each_lp([&](std::uint32_t lp, const State& state) { use(worker, lp, state); });
        }
    }
    template <class Use>
    void each_lp(Use use) const {
        for (const auto& thread : threads_) {
            thread->partition.each_lp(use);
        }
    }
    /// Calls `use` with all emitted records that were kept, those of an LP in its order.
    template <class Use>
    void each_emitted(Use use) const {
        for (const auto& thread : threads_) {
            for (const auto& emitted : thread->partition.output()) {
                use(emitted);
            }
        }
    }

    /// The LPs, by slot, which outlive the scheduler then; on one process without a placement the slot is the number.
    [[nodiscard]] std::unique_ptr<Lps<State>> take_lps() { return memory_.take_lps(); }

    [[nodiscard]] Statistics statistics() {
        Statistics sum;
        for (const auto& thread : threads_) {
            sum += thread->partition.statistics(thread->rounds + thread->windows);
        }
        sum.by_one_thread = by_one_thread_;
        return sum;
    }
    /// The share of this process's events that one thread has executed for all.
    [[nodiscard]] double share_by_one_thread() const {
        return by_one_thread_ == 0 ? 0 : static_cast<double>(by_one_thread_) / static_cast<double>(executed());
    }
    [[nodiscard]] std::vector<ProgressSample> series() const {
        std::vector<ProgressSample> sum;
        for (const auto& thread : threads_) {
            add_samples(sum, thread->partition.series().samples());
        }
        return sum;
    }

  private:
    struct Thread {
        template <class... Arguments>
        explicit Thread(Arguments&&... arguments) : partition(std::forward<Arguments>(arguments)...) {}

        ConservativePartition<M> partition;
        std::int64_t next = 0;          ///< cell of the earliest event of its calendar
        std::uint64_t rounds = 0;       ///< agreements on a window
        std::uint64_t windows = 0;      ///< executed by one thread, without an agreement
        std::uint32_t runs_by_one = 0;  ///< times that one thread has executed windows
    };

    /// Calls `work` with each thread, on that thread.
    template <class Work>
    void on_all(Work work) {
        team_.run([&](std::uint32_t i) { work(*threads_[i]); }, [this](std::uint32_t i) { endpoints_[i]->abort(); });
        error_.rethrow();
    }

    /// A thread's work from beginning to end. It leaves only when all do.
    void work(Thread& thread) {
        std::int64_t next = thread.next;
        while (true) {
            const WindowCandidate agreed = agree(thread, next);
            if (agreed.cell == WindowCandidate::failed || agreed.cell == CalendarQueue::none || agreed.wants_pause ||
                is_imbalanced(agreed)) {
                thread.next = agreed.cell;
                if (is_callers(thread)) {
                    agreed_ = agreed;
                }
                return;
            }
            try {
                next = !agreed.by_one_thread ? execute_window(thread, agreed.cell)
                       : is_callers(thread)  ? execute_windows_of_all(agreed.cell)
                                             : sleep(thread);
            } catch (...) {
                error_.record(std::current_exception());
                next = WindowCandidate::failed;
            }
        }
    }

    /// The first thread executes windows of all threads, from the cell `first` on, until all shall do that again, or
    /// something else is to be agreed upon. Returns the cell of the earliest event of its own calendar.
    std::int64_t execute_windows_of_all(std::int64_t first) {
        struct WakeUp {
            std::atomic<std::uint32_t>& runs_by_one;
            ~WakeUp() {
                runs_by_one.fetch_add(1, std::memory_order_acq_rel);
                runs_by_one.notify_all();
            }
        };
        const WakeUp wake_up{runs_by_one_};
        const std::uint64_t before = executed();
        WindowCandidate next;
        do {
            next = execute_window_of_all(first);
            count_for_choice(next.executed);
            first = next.cell;
        } while (choice_.chosen() == WindowThreads::one && first != CalendarQueue::none && !next.wants_pause &&
                 !is_imbalanced(next));
        by_one_thread_ += next.executed - before;
        return threads_.front()->next;
    }

    /// Executes the window that begins with the cell `first`. Returns what all threads contribute to the choice of the
    /// next one.
    WindowCandidate execute_window_of_all(std::int64_t first) {
        bool exact = true;
        for (const auto& thread : threads_) {
            thread->next = WindowCandidate::failed;  // if the window throws
            ++thread->windows;
            exact = thread->partition.advance(first) && exact;
        }
        const std::int64_t last = exact ? memory_.grid().end_of_window(first) : first;
        const Time begins = memory_.grid().begin_of(first);
        if (exact) {
            memory_.each_block_with_events(first, last, [&](std::uint32_t block) {
                ConservativePartition<M>& owner = threads_[memory_.layout().owner_of(block)]->partition;
                caller_.count_events(owner.execute_block(block, first, last), begins);
            });
        }
        caller_.count_window(threads_.front()->rounds + threads_.front()->windows, begins);
        WindowCandidate next{.cell = CalendarQueue::none, .wants_pause = caller_.wants_pause()};
        for (const auto& thread : threads_) {
            thread->next = exact ? thread->partition.leave_window(first, last) : thread->partition.first_cell(first);
            next.add({.cell = thread->next, .executed = thread->partition.executed()});
        }
        return next;
    }

    /// Waits until the first thread has executed windows of all. Returns the cell of the earliest event of the thread's
    /// calendar then.
    std::int64_t sleep(Thread& thread) {
        while (runs_by_one_.load(std::memory_order_acquire) == thread.runs_by_one) {
            runs_by_one_.wait(thread.runs_by_one, std::memory_order_acquire);
        }
        ++thread.runs_by_one;
        return thread.next;
    }

    /// Agrees with all threads and processes on the next window.
    WindowCandidate agree(Thread& thread, std::int64_t next) {
        const WindowCandidate own{.cell = next,
                                  .executed = thread.partition.executed(),
                                  .wants_pause = is_callers(thread) && caller_.wants_pause(),
                                  .by_one_thread = is_callers(thread) && choice_.chosen() == WindowThreads::one};
        const WindowCandidate agreed =
            processes_ ? thread.partition.agree(own) : agreement_.agree(thread.partition.thread(), thread.rounds, own);
        ++thread.rounds;
        if (is_callers(thread) && threads_.size() > 1 && !processes_) {
            count_for_choice(agreed.executed);
        }
        return agreed;
    }

    /// Lets the choice between one thread and all know how many events were executed so far. The clock is read once for
    /// a few events: windows may have one.
    void count_for_choice(std::uint64_t executed) {
        constexpr std::uint64_t apart = 32;
        if (executed >= counted_for_choice_ + apart) {
            counted_for_choice_ = executed;
            choice_.count(executed, ThreadChoice::Clock::now());
        }
    }

    /// Executes a window of a thread's LPs.
    std::int64_t execute_window(Thread& thread, std::int64_t first) {
        const Time begins = memory_.grid().begin_of(first);
        const std::int64_t next = thread.partition.execute_window(first, [&](std::size_t events) {
            if (is_callers(thread)) {
                caller_.count_events(events, begins);
            }
        });
        if (is_callers(thread)) {
            caller_.count_window(thread.rounds + thread.windows, begins);
        }
        return next;
    }

    /// Events executed in this segment.
    [[nodiscard]] std::uint64_t executed() const {
        std::uint64_t sum = 0;
        for (const auto& thread : threads_) {
            sum += thread->partition.executed();
        }
        return sum;
    }

    [[nodiscard]] static bool is_callers(const Thread& thread) { return thread.partition.thread() == 0; }

    /// Whether one thread executes so many more events than the others that LPs should migrate.
    [[nodiscard]] bool is_imbalanced(const WindowCandidate& agreed) const {
        return options_.migrate_after > 0 && agreed.executed >= options_.migrate_after &&
               static_cast<double>(agreed.busiest) * placement_.partitions() >
                   options_.imbalance * static_cast<double>(agreed.executed);
    }

    WindowAgreement agreement_;
    const Placement& placement_;
    std::uint32_t first_;  ///< number of the first partition of this process
    bool processes_;       ///< there are other processes
    PartitionOptions options_;
    ThreadTeam team_;
    ProcessMemory<M> memory_;
    FirstError error_;
    ThreadChoice choice_;
    std::uint64_t counted_for_choice_ = 0;        ///< events when the choice counted last
    std::uint64_t by_one_thread_ = 0;             ///< events that the first thread has executed for all
    std::atomic<std::uint32_t> runs_by_one_ = 0;  ///< times that the first thread has executed windows of all
    Caller caller_{error_};
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    std::vector<std::unique_ptr<Thread>> threads_;
    WindowCandidate agreed_;
};

struct Yawns {
    static constexpr SchedulerTraits traits{.needs_lookahead = true};

    template <WindowModel M>
    using Of = ConservativeScheduler<M>;
};

}  // namespace idlewave::pdes
