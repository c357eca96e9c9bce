#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "pdes/checkpoint.hpp"
#include "pdes/communication_matrix.hpp"
#include "pdes/exchange.hpp"
#include "pdes/load_balancing.hpp"
#include "pdes/model.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/progress_series.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/run_statistics.hpp"
#include "pdes/scheduler.hpp"
#include "pdes/schedulers.hpp"
#include "pdes/snapshot.hpp"
#include "pdes/statistics.hpp"
#include "pdes/transport.h"

namespace idlewave::pdes {

/// Runs a model by the scheduler of the configuration, from the beginning, or from a checkpoint, to the end. Between
/// two segments of the run its whole state is in a snapshot: LPs may migrate to other partitions, and the snapshot may
/// be written as a checkpoint. The number of segments does not change the results.
template <WindowModel M>
class SegmentedRun {
  public:
    using Clock = std::chrono::steady_clock;

    /// `placement`: of the first segment. Throws InputError if the scheduler cannot make this run.
    SegmentedRun(M& model, Placement placement, const PartitionOptions& options, const RunConfiguration& configuration)
        : model_(model),
          placement_(std::move(placement)),
          options_(options),
          configuration_(configuration),
          folder_(configuration.checkpoint.directory, configuration.checkpoint.description),
          snapshot_(configuration.partitions()),
          checkpoint_at_(Clock::now()) {
        check_scheduler<M>(configuration);
        statistics_.time_unit = time_unit<M>;
        if (configuration.partitions() > 1) {
            options_.migrate_after = configuration.migrate_after * configuration.partitions();
            options_.counts_communication = static_cast<bool>(configuration.choose_placement);
            options_.imbalance = configuration.choose_placement ? 0 : options.imbalance;
        }
    }

    /// Runs to the end, and then calls `use` with the scheduler.
    template <class Use>
    RunStatistics run(Use use) {
        const auto begin = Clock::now();
        restart();
        while (!run_segment(begin, use)) {
            ++statistics_.segments;
            end_segment(begin);
        }
        statistics_.seconds = seconds_since(begin) - statistics_.init_seconds + seconds_before_;
        return std::move(statistics_);
    }

  private:
    static double seconds_since(Clock::time_point begin) {
        return std::chrono::duration<double>(Clock::now() - begin).count();
    }

    /// Prepares the checkpoint directory, or reads the checkpoint to restart from.
    void restart() {
        if (!configuration_.checkpoint.restart) {
            if (!configuration_.checkpoint.directory.empty()) {
                folder_.prepare();
                barrier(configuration_.transport);
            }
            return;
        }
        Checkpoint checkpoint = folder_.read();
        options_.from = checkpoint.from;
        seconds_before_ = checkpoint.seconds;
        statistics_.before_restart = checkpoint.statistics;
        sections_ = std::move(checkpoint.sections);
    }

    /// Runs one segment; returns whether it was the last.
    template <class Use>
    bool run_segment(Clock::time_point begin, Use use) {
        TransportOf<M> transport(configuration_.threads, configuration_.transport);
        const double before = seconds_since(begin);
        bool ended = false;
        with_scheduler(configuration_.scheduler, [&]<class Line>(const Line& /*line*/) {
            if constexpr (Line::template runs<M>) {
                typename Line::template Of<M> scheduler(model_, placement_, transport, options_);
                ended = run_segment_on(scheduler, begin, before, use);
            }
        });
        return ended;
    }

    template <Scheduler<M> S, class Use>
    bool run_segment_on(S& scheduler, Clock::time_point begin, double before, Use use) {
        constexpr bool has_segments = SegmentedScheduler<S, M>;
        if (options_.from == 0) {
            scheduler.begin();
        } else if constexpr (has_segments) {
            scheduler.restore(snapshot_, sections_);
            sections_.clear();
        }
        if (statistics_.segments == 1) {
            statistics_.init_seconds = seconds_since(begin);
        }
        scheduler.run(configuration_.poll, [this] { return wants_pause(); });
        count(scheduler, before);
        if constexpr (has_segments) {
            if (!scheduler.at_end()) {
                pause(scheduler);
                return false;
            }
        }
        use(scheduler);
        return true;
    }

    /// Takes the snapshot with which the next segment begins.
    template <class S>
    void pause(S& scheduler) {
        if (scheduler.paused_for_migration()) {
            choose_placement(scheduler);
            options_.migrate_after = configuration_.choose_placement ? 0 : 2 * options_.migrate_after;
            options_.counts_communication = false;
        }
        snapshot_ = scheduler.save(next());
        options_.from = scheduler.paused_at();
    }

    template <class S>
    void count(S& scheduler, double before) {
        const Statistics& all = statistics_.counts;
        for (ProgressSample sample : scheduler.series()) {
            sample.seconds += before + seconds_before_;
            sample.committed += all.committed;
            sample.rolled_back += all.rolled_back;
            statistics_.series.push_back(sample);
        }
        statistics_.counts.add_segment(scheduler.statistics());
    }

    [[nodiscard]] bool wants_pause() const {
        return !configuration_.checkpoint.directory.empty() &&
               seconds_since(checkpoint_at_) >= configuration_.checkpoint.interval;
    }

    /// Chooses the placement of the next segment from the events of this one.
    template <class S>
    void choose_placement(S& scheduler) {
        if (configuration_.choose_placement) {
            const std::size_t groups = CommunicationMatrix::groups_of(model_.lps());
            std::vector<std::uint64_t> between(groups * groups);
            scheduler.add_between(between);
            sum_over_processes(between, configuration_.transport);
            next_ = placement_of_groups(configuration_.choose_placement(between, configuration_.partitions()),
                                        model_.lps(), configuration_.partitions());
            return;
        }
        const std::uint32_t group = group_size(model_.lps(), max_groups);
        std::vector<std::uint64_t> weights((model_.lps() + group - 1) / group);
        scheduler.add_weights(weights, group);
        sum_over_processes(weights, configuration_.transport);
        next_ = balanced(weights, model_.lps(), configuration_.partitions());
    }

    const Placement& next() const { return next_ ? *next_ : placement_; }

    /// Between two segments: gives each process the sections for its partitions, and writes a checkpoint.
    void end_segment(Clock::time_point begin) {
        if (configuration_.transport != nullptr) {
            exchange(snapshot_, *configuration_.transport, configuration_.threads);
        }
        if (next_) {
            placement_ = *std::exchange(next_, std::nullopt);
        }
        if (!configuration_.checkpoint.directory.empty()) {
            Checkpoint checkpoint;
            checkpoint.from = options_.from;
            checkpoint.seconds = seconds_since(begin) - statistics_.init_seconds + seconds_before_;
            Statistics since = statistics_.counts;
            sum_over_processes(since, configuration_.transport);
            checkpoint.statistics = statistics_.before_restart;
            checkpoint.statistics.add_segment(since);
            folder_.write(checkpoint, snapshot_, configuration_.transport);
            checkpoint_at_ = Clock::now();
        }
    }

    M& model_;
    Placement placement_;
    std::optional<Placement> next_;  ///< to which LPs migrate
    PartitionOptions options_;
    const RunConfiguration& configuration_;
    CheckpointFolder folder_;
    Snapshot snapshot_;
    std::vector<Snapshot::Section> sections_;  ///< of the checkpoint
    RunStatistics statistics_;
    double seconds_before_ = 0;  ///< of the run before the checkpoint
    Clock::time_point checkpoint_at_;
};

}  // namespace idlewave::pdes
