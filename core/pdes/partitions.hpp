#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "pdes/model.hpp"
#include "pdes/partition.hpp"
#include "pdes/placement.hpp"
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
    Partitions(M& model, const Placement& placement, Transport& transport, const Manner& manner) {
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

    /// Runs to the end. Throws what a model or a poll throws, on whatever thread it happened. `poll` is called now and
    /// then on this thread.
    void run(const std::function<void(Time)>& poll) {
        on_all([&](Partition<M, Port>& partition, Port& port) {
            constexpr std::uint32_t poll_interval = 1 << 8;
            constexpr std::uint32_t patience = 1 << 10;  // steps: then others get the processor, if any want it
            const bool polls = poll && &port == ports_.front().get();
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
                if (polls && ++steps % poll_interval == 0) {
                    poll(partition.gvt());
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

  private:
    template <class Work>
    void on_all(Work work) {
        FirstError error;
        const auto guarded = [&](std::size_t i) {
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
        }
        guarded(0);
        for (std::thread& other : others) {
            other.join();
        }
        error.rethrow();
    }

    std::vector<std::unique_ptr<Port>> ports_;
    std::vector<std::unique_ptr<Partition<M, Port>>> partitions_;
};

}  // namespace idlewave::pdes
