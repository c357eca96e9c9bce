#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "pdes/model.hpp"
#include "pdes/optimistic_partition.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/progress_series.hpp"
#include "pdes/scheduler.hpp"
#include "pdes/snapshot.hpp"
#include "pdes/statistics.hpp"
#include "pdes/thread_team.hpp"

namespace idlewave::pdes {

/// The optimistic scheduler (Time Warp): the partitions of this process, each on a thread. `Transport` connects them
/// with each other and with those of other processes.
template <WindowModel M>
class OptimisticScheduler {
  public:
    using Transport = TransportOf<M>;
    using Endpoint = EndpointOf<M>;

    /// `placement`: of the LPs on as many partitions as the transport connects.
    OptimisticScheduler(M& model, const Placement& placement, Transport& transport, const PartitionOptions& options)
        : team_(transport.threads(), transport.first(), options.pin) {
        for (std::uint32_t i = 0; i < transport.threads(); ++i) {
            endpoints_.push_back(std::make_unique<Endpoint>(transport, i));
            partitions_.push_back(std::make_unique<OptimisticPartition<M>>(model, placement, transport.first() + i,
                                                                           *endpoints_[i], options));
        }
    }

    /// Makes all LPs, which start.
    void begin() {
        on_all([](OptimisticPartition<M>& partition, Endpoint& /*endpoint*/) { partition.begin(); });
    }

    /// Restores the partitions from the snapshot, which has the sections of each, and from sections that may be for any
    /// partition.
    void restore(Snapshot& snapshot, std::span<const Snapshot::Section> sections) {
        on_all([&](OptimisticPartition<M>& partition, Endpoint& /*endpoint*/) {
            partition.restore(sections);
            for (Snapshot::Section& section : snapshot.of(partition.number())) {
                partition.restore(std::span(&section, 1));
                section = {};
            }
            snapshot.of(partition.number()).clear();
            partition.check_restored();
        });
    }

    /// The state of all paused partitions, sorted by the partitions of the next segment.
    Snapshot save(const Placement& next) {
        Snapshot snapshot(next.partitions());
        std::mutex mutex;
        on_all([&](OptimisticPartition<M>& partition, Endpoint& /*endpoint*/) {
            Snapshot own(next.partitions());
            partition.save(next, own);
            const std::lock_guard lock(mutex);
            snapshot.add(std::move(own));
        });
        return snapshot;
    }

    /// Runs to the end, or until all pause. Throws what a model or a poll throws, on whatever thread it happened.
    /// `poll` and `wants_pause` are called a few times a second on the caller's thread.
    void run(const std::function<void(Time)>& poll, const std::function<bool()>& wants_pause = {}) {
        on_all([&](OptimisticPartition<M>& partition, Endpoint& endpoint) {
            constexpr std::uint32_t poll_interval = 1 << 8;
            constexpr std::uint32_t patience = 1 << 10;  // idle steps, after which it yields the processor
            const bool is_first = &endpoint == endpoints_.front().get();
            std::uint32_t steps = 0;
            std::uint32_t idle = 0;
            while (!endpoint.aborted()) {
                const Step step = partition.step();
                if (step == Step::ended) {
                    return;
                }
                idle = step == Step::idle ? idle + 1 : 0;
                if (idle > patience) {
                    std::this_thread::yield();
                }
                if (is_first && ++steps % poll_interval == 0) {
                    if (poll) {
                        poll(partition.gvt());
                    }
                    if (wants_pause && wants_pause()) {
                        partition.ask_to_pause();
                    }
                }
            }
        });
    }

    /// Runs the partitions on one thread, step by step: `choose` returns the number of the next one.
    template <class Choose>
    void run_interleaved(Choose choose) {
        std::vector<bool> done(partitions_.size());
        std::size_t left = partitions_.size();
        while (left > 0) {
            const std::size_t i = choose();
            if (!done[i] && partitions_[i]->step() == Step::ended) {
                done[i] = true;
                --left;
            }
        }
    }

    /// Whether no event is left; else all partitions have paused.
    [[nodiscard]] bool at_end() const { return partitions_.front()->at_end(); }
    [[nodiscard]] bool paused_for_migration() const { return partitions_.front()->paused_for_migration(); }
    [[nodiscard]] Time paused_at() const { return partitions_.front()->paused_at(); }

    void add_weights(std::span<std::uint64_t> weights, std::uint32_t group) const {
        for (const auto& partition : partitions_) {
            partition->add_weights(weights, group);
        }
    }

    /// Adds the communication matrices of this process's partitions.
    void add_between(std::span<std::uint64_t> sum) const {
        for (const auto& partition : partitions_) {
            partition->communication().add_between(sum);
        }
    }

    /// Calls `use` with the worker of each partition.
    template <class Use>
    void each_worker(Use use) {
        for (const auto& partition : partitions_) {
            use(partition->worker());
        }
    }
    /// Calls `use` with the worker, the number and the state of each LP of this process.
    template <class Use>
    void each_lp_of_worker(Use use) {
        for (const auto& partition : partitions_) {
            partition->each_lp([&](std::uint32_t lp, const auto& state) { use(partition->worker(), lp, state); });
        }
    }

    template <class Use>
    void each_lp(Use use) const {
        for (const auto& partition : partitions_) {
            partition->each_lp(use);
        }
    }

    /// Calls `use` with all emitted records, those of an LP in its order.
    template <class Use>
    void each_emitted(Use use) const {
        for (const auto& partition : partitions_) {
            for (const auto& emitted : partition->output()) {
                use(emitted);
            }
        }
    }

    [[nodiscard]] Statistics statistics() {
        Statistics sum;
        for (const auto& partition : partitions_) {
            sum += partition->statistics();
        }
        return sum;
    }

    /// The progress of all partitions of this process, summed by sample.
    [[nodiscard]] std::vector<ProgressSample> series() const {
        std::vector<ProgressSample> sum;
        for (const auto& partition : partitions_) {
            add_samples(sum, partition->series().samples());
        }
        return sum;
    }

  private:
    template <class Work>
    void on_all(Work work) {
        team_.run([&](std::uint32_t i) { work(*partitions_[i], *endpoints_[i]); },
                  [this](std::uint32_t i) { endpoints_[i]->abort(); });
    }

    ThreadTeam team_;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    std::vector<std::unique_ptr<OptimisticPartition<M>>> partitions_;
};

struct TimeWarp {
    static constexpr SchedulerTraits traits{.rolls_back = true};

    template <WindowModel M>
    using Of = OptimisticScheduler<M>;
};

}  // namespace idlewave::pdes
