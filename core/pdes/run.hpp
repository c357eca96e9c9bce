#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/time.hpp"
#include "pdes/conservative.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/placement.hpp"
#include "pdes/sequential.hpp"
#include "pdes/thread_transport.hpp"

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
    if (model.lookahead() > 0) {
        ThreadTransport<typename M::Payload> transport(threads);
        const Placement placement = Placement::block(model.lps(), threads);
        ConservativeScheduler<M, ThreadTransport<typename M::Payload>> scheduler(model, placement, transport,
                                                                                 {.cell = model.lookahead()});
        scheduler.begin();
        scheduler.run(poll);
        use(scheduler);
        return scheduler.take_lps();
    }
    auto lps = std::make_unique<Lps<typename M::State>>(model.lps());
    SequentialScheduler<M> scheduler(model, *lps, poll);
    scheduler.run();
    use(scheduler);
    return lps;
}

}  // namespace idlewave::pdes
