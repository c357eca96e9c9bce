#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/event.hpp"
#include "pdes/gvt.hpp"
#include "pdes/horizon.hpp"
#include "pdes/lp_events.hpp"
#include "pdes/model.hpp"
#include "pdes/optimistic_execution.hpp"
#include "pdes/optimistic_lps.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_snapshot.hpp"
#include "pdes/partition_statistics.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/progress_series.hpp"
#include "pdes/snapshot.hpp"
#include "pdes/statistics.hpp"

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
/// The partition executes a step after the other. It has the horizon and the statistics; its LPs and their events are
/// in OptimisticLps, and OptimisticExecution executes them.
template <WindowModel M>
class OptimisticPartition {
  public:
    using Endpoint = EndpointOf<M>;
    using Emitted = typename EmittedOf<M>::Type;

    OptimisticPartition(M& model, const Placement& placement, std::uint32_t self, Endpoint& endpoint,
                        const PartitionOptions& options)
        : endpoint_(endpoint),
          horizon_(options, model.lookahead() > 0, Grid(options.cell, placement.size(self)).cell_of(options.from),
                   placement.partitions()),
          statistics_(options, placement.size(self), placement.lps()),
          lps_(model, placement, self, endpoint, horizon_, statistics_.counts, options),
          execution_(lps_, horizon_, statistics_, options.check) {}

    /// Makes the LPs, which start and do what they do in the first cell.
    void begin() { execution_.begin(); }

    /// Restores, of sections of a snapshot, the LPs that are placed here.
    void restore(std::span<const Snapshot::Section> sections) {
        PartitionSnapshot<M>::restore(
            sections, contents(), [this](const PendingEvent& event) { lps_.queue().push(event, lps_.cell_of(event)); },
            [this](std::uint32_t local, Time time) { lps_.set_timer(lps_.lps()[local], local, time); });
    }
    /// Throws InputError if the snapshot did not have all LPs.
    void check_restored() const { PartitionSnapshot<M>::check(lps_.lps().size(), statistics_.restored_lps); }

    /// Executes the next block of LPs, if it may, and takes part in finding GVT.
    Step step() {
        lps_.receive();
        Gvt& gvt = horizon_.gvt();
        if (gvt.poll(endpoint_, [this] { return contribution(); })) {
            if (horizon_.has_ended()) {
                execution_.commit_before(Gvt::nothing);
                return Step::ended;
            }
            advance_to_gvt();
        }
        const std::int64_t cell = lps_.queue().first_cell();
        const bool executes = lps_.queue().has_buckets(cell) && horizon_.allows(cell, lps_.undo().bytes_in_use());
        if (executes) {
            execution_.execute_cell(cell);
            horizon_.count_executed(lps_.queue().events().size());
        }
        if (horizon_.needs_round(!executes)) {
            lps_.flush();
            horizon_.begin_round();
            gvt.begin_round(endpoint_, contribution());
        }
        return executes ? Step::advanced : Step::idle;
    }

    /// After all partitions paused: adds this one to the snapshot, sorted by the partitions of `next`.
    void save(const Placement& next, Snapshot& snapshot) {
        execution_.requeue_conservative(Gvt::nothing);
        PartitionSnapshot<M>::save_lps(next, snapshot, contents());
        save_events(next, snapshot);
    }

    /// Calls `use` with the number and the state of each LP.
    template <class Use>
    void each_lp(Use use) const {
        for (std::uint32_t i = 0; i < lps_.lps().size(); ++i) {
            use(lps_.number_of(i), lps_.lps()[i].state);
        }
    }

    /// The committed records that no worker takes, of each LP in its order.
    [[nodiscard]] const std::vector<Emitted>& output() const { return execution_.records().output(); }

    [[nodiscard]] const Statistics& statistics() {
        Statistics& counts = statistics_.counts;
        counts.gvt_rounds = horizon_.gvt().rounds();
        counts.log_bytes = lps_.undo().bytes();
        counts.remote_events = lps_.remote_events();
        counts.message_batches = lps_.batches();
        return counts;
    }
    [[nodiscard]] const ProgressSeries& series() const { return statistics_.series; }
    [[nodiscard]] const CommunicationMatrix& communication() const { return statistics_.communication; }
    [[nodiscard]] typename M::Worker& worker() { return lps_.worker(); }
    [[nodiscard]] std::uint32_t number() const { return lps_.self(); }
    [[nodiscard]] Time gvt() const { return lps_.queue().grid().begin_of(horizon_.gvt().cell()); }
    /// Once it has ended: whether no event is left; else all partitions have paused.
    [[nodiscard]] bool at_end() const { return horizon_.at_end(); }
    [[nodiscard]] bool paused_for_migration() const { return horizon_.paused_for_migration(); }
    [[nodiscard]] Time paused_at() const { return lps_.queue().grid().begin_of(horizon_.stop()); }
    /// Asks all partitions to pause soon, at one time before which all is committed and after which nothing was
    /// executed.
    void ask_to_pause() { horizon_.ask_to_pause(); }
    /// Adds the events that groups of `group` neighbouring LPs received.
    void add_weights(std::span<std::uint64_t> weights, std::uint32_t group) const {
        for (std::uint32_t i = 0; i < lps_.lps().size(); ++i) {
            weights[lps_.number_of(i) / group] += communication().received(i);
        }
    }

  private:
    [[nodiscard]] PartitionContents<M, PlacedLps> contents() {
        return {{lps_.placement(), lps_.self()}, lps_.worker(),           lps_.lps(), lps_.queue().payloads(),
                execution_.records().output(),   statistics_.restored_lps};
    }

    void save_events(const Placement& next, Snapshot& snapshot) {
        const Grid& grid = lps_.queue().grid();
        for (std::int64_t cell = lps_.queue().first_cell(); cell != CalendarQueue::none;
             cell = lps_.queue().first_cell()) {
            if (!lps_.queue().has_buckets(cell)) {
                lps_.queue().advance(cell);
                continue;
            }
            const std::uint32_t block = lps_.queue().take_block(cell);
            const Time begins = grid.begin_of(cell);
            each_lp_of_block(lps_.queue().events(), [&](std::span<const QueuedEvent> events) {
                const std::uint32_t lp = lps_.number_of((block << grid.block_shift) + events.front().lp);
                for (const QueuedEvent& event : lps_.queue().remaining(events, begins)) {
                    PartitionSnapshot<M>::save_queued(event, lp, begins, lps_.queue().delivery(),
                                                      snapshot.open(next.of(lp).partition));
                }
            });
        }
    }

    [[nodiscard]] Gvt::Contribution contribution() {
        return {.first_pending = std::min(lps_.queue().first_cell(), execution_.first_conservative()),
                .executed = horizon_.executed(),
                .wants_pause = horizon_.wants_pause()};
    }

    void advance_to_gvt() {
        const std::int64_t gvt = horizon_.gvt().cell();
        execution_.commit_before(gvt);  // first, as the horizon counts what is committed
        horizon_.advance({.committed = statistics_.counts.committed,
                          .not_rolled_back = lps_.worker().executed(),
                          .rolled_back = statistics_.counts.rolled_back},
                         Horizon::Clock::now());
        lps_.queue().advance(gvt);
        execution_.requeue_conservative(horizon_.safe());
        statistics_.sample(lps_.queue().grid().begin_of(gvt), lps_.undo().bytes_in_use());
    }

    Endpoint& endpoint_;
    Horizon horizon_;
    PartitionStatistics statistics_;
    OptimisticLps<M> lps_;
    OptimisticExecution<M> execution_;
};

}  // namespace idlewave::pdes
