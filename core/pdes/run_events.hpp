#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "pdes/by_event.hpp"
#include "pdes/lps.hpp"
#include "pdes/mailboxes.hpp"
#include "pdes/one_by_one.hpp"
#include "pdes/partitions.hpp"
#include "pdes/placement.hpp"
#include "pdes/processes.hpp"
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

/// How to run a model that is written event by event.
struct EventRunOptions {
    Scheduler scheduler = Scheduler::sequential;
    std::uint32_t threads = 1;  ///< the answer is the same on any number
    Deal deal = Deal::block;
    bool lazy = false;                    ///< Time Warp: lazy cancellation, as always without a lookahead
    Time cell = 0;                        ///< how long a cell is at most; 0: as long as is good
    std::function<void(Time)> poll;       ///< called now and then with the time before which all is certain; may throw
    const idlewave_wire* wire = nullptr;  ///< to the other processes of the run, each of which has so many threads
};

/// What a run counted, and how long it took: to make the LPs and their first events, and from there to the end.
struct EventRun {
    Statistics statistics;
    double init_seconds = 0;
    double seconds = 0;
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

template <class Model, class Transport, class Use>
EventRun in_partitions(Model& model, Transport& transport, const EventRunOptions& options, const Manner& manner,
                       Use use) {
    EventRun run;
    const auto begin = Clock::now();
    const Placement placement = options.deal == Deal::block ? Placement::block(model.lps(), transport.partitions())
                                                            : Placement::cyclic(model.lps(), transport.partitions());
    Partitions<Model, Transport> partitions(model, placement, transport, manner);
    partitions.begin();
    run.init_seconds = seconds_since(begin);
    const auto ready = Clock::now();
    partitions.run(options.poll);
    run.seconds = seconds_since(ready);
    run.statistics = partitions.statistics();
    partitions.each_lp(use);
    return run;
}

template <class Model, class Use>
EventRun in_partitions(Model& model, const EventRunOptions& options, const Manner& manner, Use use) {
    if (options.wire != nullptr) {
        Processes<typename Model::Payload> transport(*options.wire, options.threads);
        return in_partitions(model, transport, options, manner, use);
    }
    Mailboxes<typename Model::Payload> transport(options.threads);
    return in_partitions(model, transport, options, manner, use);
}

/// What all processes counted, in each.
inline void add_up(EventRun& run, const idlewave_wire& wire) {
    Statistics& counted = run.statistics;
    const std::array<std::uint64_t*, 11> sums = {
        &counted.committed,           &counted.rolled_back, &counted.primary_rollbacks,
        &counted.secondary_rollbacks, &counted.taken_back,  &counted.sent_again,
        &counted.told_elsewhere,      &counted.mails,       &counted.ties,
        &counted.log_bytes,           &run.digest};
    std::array<std::uint64_t, sums.size()> values{};
    std::transform(sums.begin(), sums.end(), values.begin(), [](const std::uint64_t* sum) { return *sum; });
    if (wire.sum(values.data(), static_cast<std::int32_t>(values.size())) != 0) {
        throw TransportError(wire.error_text());
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
        *sums[i] = values[i];
    }
}

template <class Model, class Use>
EventRun one_by_one(Model& model, const EventRunOptions& options, Use use) {
    EventRun run;
    const auto begin = Clock::now();
    Lps<typename Model::State> lps(model.lps());
    OneByOne<Model> scheduler(model, lps, options.poll);
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
    Manner manner{.advance = options.scheduler == Scheduler::timewarp ? Advance::optimistic : Advance::conservative,
                  .cell = options.cell,
                  .lazy = options.lazy,
                  .check = options.scheduler == Scheduler::check};
    if (written.lookahead() > 0) {
        ByEvent<M, false> model(written);
        manner.cell = options.cell > 0 ? std::min(options.cell, written.lookahead()) : written.lookahead();
        run = run_events_detail::in_partitions(model, options, manner, add(digest));
    } else {
        ByEvent<M, true> model(written);
        if (options.scheduler == Scheduler::yawns) {
            throw InputError("yawns needs a lookahead, and the model has none: sequential and timewarp do without");
        }
        manner.advance = Advance::optimistic;
        manner.cell = options.cell > 0 ? options.cell : run_events_detail::cell_without_lookahead(written);
        run = options.scheduler == Scheduler::sequential
                  ? run_events_detail::one_by_one(model, options, add(digest))
                  : run_events_detail::in_partitions(model, options, manner, add(digest));
    }
    run.digest = digest;
    if (options.wire != nullptr) {
        run_events_detail::add_up(run, *options.wire);
    }
    return run;
}

}  // namespace idlewave::pdes
