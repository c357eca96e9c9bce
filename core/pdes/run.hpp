#pragma once

#include <cstdint>
#include <functional>

#include "base/time.hpp"
#include "pdes/conservative.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/sequential.hpp"

namespace idlewave::pdes {

/// Runs `model` to its end on `threads` threads, this one among them, and then shows the
/// scheduler, with its workers, to `use`.
/// `poll` is called now and then, on this thread, with the present simulated time; it may throw to end the run.
///
/// With a lookahead, windows of it are handled LP by LP; without one, events are handled one by one, on one thread.
/// The answer is the same, on any number of threads.
template <WindowModel M, class Use>
void run(M& model, Lps<typename M::State>& lps, std::uint32_t threads, const std::function<void(Time)>& poll, Use use) {
    if (lps.size() == 0) {
        return;
    }
    if (model.lookahead() > 0) {
        ConservativeScheduler<M> scheduler(model, lps, threads, poll);
        scheduler.run();
        use(scheduler);
    } else {
        SequentialScheduler<M> scheduler(model, lps, poll);
        scheduler.run();
        use(scheduler);
    }
}

}  // namespace idlewave::pdes
