#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "pdes/model.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/progress_series.hpp"
#include "pdes/snapshot.hpp"
#include "pdes/statistics.hpp"

namespace idlewave::pdes {

/// Visitors that a scheduler calls: any callable with these arguments.
template <WindowModel M>
struct VisitorInterface {
    void operator()(typename M::Worker& worker) const;
    void operator()(std::uint32_t lp, const typename M::State& state) const;
    void operator()(typename M::Worker& worker, std::uint32_t lp, const typename M::State& state) const;
    void operator()(const typename EmittedOf<M>::Type& emitted) const;
};

/// What a run needs of a scheduler, which executes the events of the LPs of one process. The transport connects its
/// partitions with each other and with those of other processes; there are as many as the placement has.
///
/// - `begin` makes all LPs, which start.
/// - `run` executes all events. It calls `poll` with the simulated time, and `wants_pause`, a few times a second on the
///   caller's thread, and throws what the model or they throw. A SegmentedScheduler pauses when `wants_pause` says so.
/// - `statistics` counts what this process has done since `begin` or `restore`; `series` has samples of it over time.
/// - `each_worker` calls a visitor with each worker of the model, `each_lp` with the number and the state of each LP of
///   this process, `each_lp_of_worker` with its worker, too, and `each_emitted` with the records that no worker takes.
template <class S, class M>
concept Scheduler = std::constructible_from<S, M&, const Placement&, TransportOf<M>&, const PartitionOptions&> &&
                    requires(S& scheduler, const std::function<void(Time)>& poll,
                             const std::function<bool()>& wants_pause, VisitorInterface<M> visitor) {
                        scheduler.begin();
                        scheduler.run(poll, wants_pause);
                        { scheduler.statistics() } -> std::convertible_to<Statistics>;
                        { scheduler.series() } -> std::convertible_to<std::vector<ProgressSample>>;
                        scheduler.each_worker(visitor);
                        scheduler.each_lp(visitor);
                        scheduler.each_lp_of_worker(visitor);
                        scheduler.each_emitted(visitor);
                    };

/// A scheduler that can pause, and continue from a snapshot: for checkpoints, and for LPs that migrate.
///
/// - `at_end` says after `run` whether no event is left; else all partitions have paused at the time `paused_at`: all
///   events before it are committed, and no later one was executed. `paused_for_migration` says that one partition has
///   executed far more events than the others (PartitionOptions).
/// - `save` moves the run into a snapshot, sorted by the partitions of the next segment. `restore`, in place of
/// `begin`,
///   makes LPs and events from the snapshot, of which it drops what it has read, and from sections that are for any
///   partition.
/// - `add_weights` adds the number of events that each group of LPs received, `add_between` the communication matrix.
template <class S, class M>
concept SegmentedScheduler =
    Scheduler<S, M> && requires(S& scheduler, Snapshot& snapshot, std::span<const Snapshot::Section> sections,
                                const Placement& next, std::span<std::uint64_t> sums, std::uint32_t group) {
        { scheduler.at_end() } -> std::same_as<bool>;
        { scheduler.paused_at() } -> std::same_as<Time>;
        { scheduler.paused_for_migration() } -> std::same_as<bool>;
        { scheduler.save(next) } -> std::same_as<Snapshot>;
        scheduler.restore(snapshot, sections);
        scheduler.add_weights(sums, group);
        scheduler.add_between(sums);
    };

/// Which runs a scheduler makes.
struct SchedulerTraits {
    bool one_thread = false;       ///< only those on one thread of one process
    bool needs_lookahead = false;  ///< only those of a model with a lookahead
    bool rolls_back = false;       ///< events that were executed too early; cancellation may be lazy
};

}  // namespace idlewave::pdes
