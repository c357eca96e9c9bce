#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

#include "base/time.hpp"
#include "pdes/conservative.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/model_errors.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/sequential.hpp"

namespace idlewave::pdes {

/// Runs a model in this process to its end on `threads` threads, this one among them, and then calls `use` with the
/// scheduler: with a lookahead the conservative one, else the event list, on one thread. Returns the LPs. `poll` is
/// called a few times a second on this thread with the simulated time; it may throw to end the run.
template <WindowModel M, class Use>
std::unique_ptr<Lps<typename M::State>> run(M& model, std::uint32_t threads, const std::function<void(Time)>& poll,
                                            Use use) {
    if (model.lps() == 0) {
        return std::make_unique<Lps<typename M::State>>(0);
    }
    const auto run_on = [&]<class Scheduler>(std::type_identity<Scheduler> /*scheduler*/, std::uint32_t partitions) {
        TransportOf<M> transport(partitions);
        const Placement placement = Placement::block(model.lps(), partitions);
        Scheduler scheduler(model, placement, transport, PartitionOptions{.cell = model.lookahead()});
        scheduler.begin();
        scheduler.run(poll);
        use(scheduler);
        return scheduler.take_lps();
    };
    if constexpr (!needs_lookahead<M>) {
        if (model.lookahead() <= 0) {
            return run_on(std::type_identity<SequentialScheduler<M>>{}, 1);
        }
    } else if (model.lookahead() <= 0) {
        throw_needs_lookahead();
    }
    return run_on(std::type_identity<ConservativeScheduler<M>>{}, threads);
}

}  // namespace idlewave::pdes
