#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "pdes/by_event.hpp"
#include "pdes/exchange.hpp"
#include "pdes/legs.hpp"
#include "pdes/lps.hpp"
#include "pdes/one_by_one.hpp"
#include "pdes/placement.hpp"
#include "pdes/series.hpp"
#include "pdes/statistics.hpp"
#include "pdes/wire.h"

namespace idlewave::pdes {

enum class Scheduler : std::uint8_t {
    sequential,
    yawns,     ///< conservative windows
    timewarp,  ///< optimistic
    check,     ///< sequential; all that an LP does is done, undone, compared and done again
};

/// Which LPs a partition has: those side by side, or every n-th.
enum class Deal : std::uint8_t { block, cyclic };

/// How to run a model that is written event by event; the answer is the same in all ways.
struct EventRunOptions {
    Scheduler scheduler = Scheduler::sequential;
    Deal deal = Deal::block;
    std::vector<std::uint32_t> placement = {};  ///< by LP, its partition: instead of a deal
    bool lazy = false;                          ///< Time Warp: lazy cancellation, as always without a lookahead
    Time cell = 0;                              ///< how long a cell is at most; 0: as long as is good
    Crew crew = {};
};

/// What a run counted, of all processes where there are several.
struct EventRun {
    Counted counted;
    std::uint64_t digest = 0;  ///< of all LPs' states, in no order
};

namespace run_events_detail {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What an LP adds to the digest of the run. States keep what they handled, and a digest of it.
template <class State>
std::uint64_t share_of(std::uint32_t lp, const State& state) {
    return philox({lp, state.digest, state.handled, 0}, {0, 0})[0];
}

/// Without a lookahead: so long that what an LP is told in one cell is mostly one thing.
template <EventModel M>
Time cell_without_lookahead(const M& written) {
    if constexpr (requires { written.typical_delay(); }) {
        return std::max<Time>(1, written.typical_delay() / 16);
    } else {
        return 1;
    }
}

/// Which partition has which LPs. Throws InputError if that is not said of all, or of partitions that do not exist.
inline Placement placement_of(std::uint32_t lps, const EventRunOptions& options) {
    const std::uint32_t partitions = options.crew.partitions();
    if (options.placement.empty()) {
        return options.deal == Deal::block ? Placement::block(lps, partitions) : Placement::cyclic(lps, partitions);
    }
    if (options.placement.size() != lps) {
        throw InputError("the placement is of " + std::to_string(options.placement.size()) + " LPs, and there are " +
                         std::to_string(lps));
    }
    return Placement::table(options.placement, partitions);
}

template <class Model, class Use>
Counted in_partitions(Model& model, const EventRunOptions& options, const Manner& manner, Use use) {
    Legs<Model> legs(model, placement_of(model.lps(), options), manner, options.crew);
    return legs.run([&](auto& partitions) { partitions.each_lp(use); });
}

template <class Model, class Use>
Counted one_by_one(Model& model, const EventRunOptions& options, Use use) {
    Counted run;
    const auto begin = Clock::now();
    Lps<typename Model::State> lps(model.lps());
    OneByOne<Model> scheduler(model, lps, options.crew.poll);
    run.init_seconds = seconds_since(begin);
    const auto ready = Clock::now();
    scheduler.run();
    run.seconds = seconds_since(ready);
    run.statistics.committed = scheduler.worker_of(0).counted();
    for (std::uint32_t i = 0; i < lps.size(); ++i) {
        use(i, lps[i].state);
    }
    return run;
}

/// Throws InputError if the model cannot be run so.
template <EventModel M>
void check(const M& written, const EventRunOptions& options) {
    if (written.lookahead() > 0) {
        return;
    }
    if (options.scheduler == Scheduler::yawns) {
        throw InputError("yawns needs a lookahead, and the model has none: sequential and timewarp do without");
    }
    if (Mixed<M> && options.scheduler == Scheduler::timewarp) {
        throw InputError("conservative LPs need a lookahead, and the model has none");
    }
    if (options.scheduler == Scheduler::sequential && !options.crew.keeping.directory.empty()) {
        throw InputError("without a lookahead the sequential scheduler writes no checkpoints: timewarp does");
    }
}

}  // namespace run_events_detail

/// Runs `written` to its end, and shows every LP's number and state to `use`. Throws InputError if there is no way to
/// run it so, and what the model or the poll throws.
template <EventModel M, class Use>
EventRun run_events(const M& written, const EventRunOptions& options, Use use) {
    EventRun run;
    const auto add = [&](std::uint64_t& digest) {
        return [&](std::uint32_t lp, const auto& state) {
            digest += run_events_detail::share_of(lp, state.model);
            use(lp, state.model);
        };
    };
    std::uint64_t digest = 0;
    run_events_detail::check(written, options);
    Manner manner{.advance = options.scheduler == Scheduler::timewarp ? Advance::optimistic : Advance::conservative,
                  .cell = options.cell,
                  .lazy = options.lazy,
                  .check = options.scheduler == Scheduler::check};
    if (written.lookahead() > 0) {
        ByEvent<M, false> model(written);
        manner.cell = options.cell > 0 ? std::min(options.cell, written.lookahead()) : written.lookahead();
        run.counted = run_events_detail::in_partitions(model, options, manner, add(digest));
    } else {
        ByEvent<M, true> model(written);
        manner.advance = Advance::optimistic;
        manner.cell = options.cell > 0 ? options.cell : run_events_detail::cell_without_lookahead(written);
        run.counted = options.scheduler == Scheduler::sequential
                          ? run_events_detail::one_by_one(model, options, add(digest))
                          : run_events_detail::in_partitions(model, options, manner, add(digest));
    }
    run.digest = digest;
    add_up(run.counted, options.crew.wire);
    add_up(std::span(&run.digest, 1), options.crew.wire);
    return run;
}

}  // namespace idlewave::pdes
