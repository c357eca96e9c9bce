#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/pinned.hpp"
#include "base/time.hpp"
#include "pdes/image.hpp"
#include "pdes/model.hpp"
#include "pdes/partition.hpp"
#include "pdes/placement.hpp"
#include "pdes/series.hpp"
#include "pdes/statistics.hpp"
#include "pdes/team.hpp"

namespace idlewave::pdes {

/// The partitions of a run in this process, a thread each. `Transport` is how they reach each other and those of other
/// processes: Mailboxes or Processes.
template <Model M, class Transport>
class Partitions {
  public:
    using Port = typename Transport::Port;

    /// `placement`: of LPs on as many partitions as the transport connects.
    Partitions(M& model, const Placement& placement, Transport& transport, const Manner& manner, bool pin = false)
        : first_(transport.first()), pin_(pin) {
        for (std::uint32_t i = 0; i < transport.threads(); ++i) {
            ports_.push_back(std::make_unique<Port>(transport, i));
            partitions_.push_back(
                std::make_unique<Partition<M, Port>>(model, placement, transport.first() + i, *ports_[i], manner));
        }
    }

    /// Makes all LPs.
    void begin() {
        on_all([](Partition<M, Port>& partition, Port& /*port*/) { partition.begin(); });
    }

    /// Goes on from an image of what all partitions of this process were, and from pieces that may be of any.
    void load(Image& image, std::span<const Image::Piece> pieces) {
        on_all([&](Partition<M, Port>& partition, Port& /*port*/) {
            partition.load(pieces);
            for (Image::Piece& piece : image.of(partition.number())) {
                partition.load(std::span(&piece, 1));
                piece = {};
            }
            image.of(partition.number()).clear();
            partition.check_loaded();
        });
    }

    /// What all partitions of this process were when they paused, for a next leg.
    Image unload(const Placement& next) {
        Image image(next.partitions());
        std::mutex mutex;
        on_all([&](Partition<M, Port>& partition, Port& /*port*/) {
            Image own(next.partitions());
            partition.unload(next, own);
            const std::lock_guard lock(mutex);
            image.add(std::move(own));
        });
        return image;
    }

    /// Runs to the end, or until all pause. Throws what a model or a poll throws, on whatever thread it happened.
    /// `poll`, and `wants_pause`, are called now and then on this thread.
    void run(const std::function<void(Time)>& poll, const std::function<bool()>& wants_pause = {}) {
        on_all([&](Partition<M, Port>& partition, Port& port) {
            constexpr std::uint32_t poll_interval = 1 << 8;
            constexpr std::uint32_t patience = 1 << 10;  // steps: then others get the processor, if any want it
            const bool is_first = &port == ports_.front().get();
            std::uint32_t steps = 0;
            std::uint32_t waited = 0;
            while (!port.given_up()) {
                const Step step = partition.step();
                if (step == Step::ended) {
                    return;
                }
                waited = step == Step::waited ? waited + 1 : 0;
                if (waited > patience) {
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

    /// Does one partition after the other a step, in an order that `choose` decides: it returns the next one's number.
    template <class Choose>
    void run_in_turns(Choose choose) {
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

    /// Whether nothing is left to do; else all have paused.
    [[nodiscard]] bool at_end() const { return partitions_.front()->at_end(); }
    [[nodiscard]] bool paused_as_uneven() const { return partitions_.front()->paused_as_uneven(); }
    [[nodiscard]] Time paused_at() const { return partitions_.front()->paused_at(); }

    void add_weights(std::span<std::uint64_t> weights, std::uint32_t group) const {
        for (const auto& partition : partitions_) {
            partition->add_weights(weights, group);
        }
    }

    /// Of Traffic, what all partitions of this process counted.
    void add_between(std::span<std::uint64_t> sum) const {
        for (const auto& partition : partitions_) {
            partition->traffic().add_between(sum);
        }
    }

    template <class Use>
    void each_partition(Use use) {
        for (const auto& partition : partitions_) {
            use(*partition);
        }
    }

    template <class Use>
    void each_lp(Use use) const {
        for (const auto& partition : partitions_) {
            partition->each_lp(use);
        }
    }

    /// Shows all that was put out to `use`, each LP's in its order.
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

    /// How far all partitions of this process were after rounds of GVT.
    [[nodiscard]] std::vector<Sample> series() const {
        std::vector<Sample> sum;
        for (const auto& partition : partitions_) {
            add_samples(sum, partition->series().samples());
        }
        return sum;
    }

  private:
    template <class Work>
    void on_all(Work work) {
        FirstError error;
        const auto guarded = [&](std::size_t i) {
            be_ready_for_exceptions();
            std::optional<Pinned> pinned;
            if (pin_) {
                pinned.emplace(first_ + static_cast<std::uint32_t>(i));
            }
            try {
                work(*partitions_[i], *ports_[i]);
            } catch (...) {
                error.keep(std::current_exception());
                ports_[i]->give_up();
            }
        };
        std::vector<std::thread> others;
        try {
            for (std::size_t i = 1; i < partitions_.size(); ++i) {
                others.emplace_back(guarded, i);
            }
        } catch (const std::system_error& failure) {
            ports_[0]->give_up();
            error.keep(std::make_exception_ptr(InputError("only " + std::to_string(others.size() + 1) + " of " +
                                                          std::to_string(partitions_.size()) +
                                                          " threads could be started: " + failure.what())));
        } catch (const std::bad_alloc&) {
            ports_[0]->give_up();
            error.keep(std::current_exception());
        }
        guarded(0);
        for (std::thread& other : others) {
            other.join();
        }
        error.rethrow();
    }

    std::uint32_t first_;  ///< the number of this process's first partition
    bool pin_;
    std::vector<std::unique_ptr<Port>> ports_;
    std::vector<std::unique_ptr<Partition<M, Port>>> partitions_;
};

}  // namespace idlewave::pdes
