#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/gathered.hpp"
#include "loggops/model.hpp"
#include "loggops/observer.hpp"
#include "loggops/simulate.hpp"
#include "machine/machine.hpp"
#include "pdes/exchange.hpp"
#include "pdes/legs.hpp"
#include "pdes/manner.hpp"
#include "pdes/placement.hpp"
#include "standstill/standstill.hpp"

namespace idlewave {

/// How to run a simulation in partitions: on threads, and in several processes.
struct LegsOptions {
    std::uint64_t seed = 0;  ///< of the noise phases
    pdes::Advance advance = pdes::Advance::conservative;
    bool check = false;   ///< all that a rank does is done, undone, compared and done again
    bool cyclic = false;  ///< ranks are dealt out one by one, not side by side
    bool lazy = false;    ///< optimistic: lazy cancellation
    pdes::Crew crew;
};

/// What a simulation in partitions found: in the first process; elsewhere `found` is empty.
struct SimulatedInLegs {
    Simulated<Time> found;
    pdes::Counted counted;     ///< by all processes; what is committed or rolled back are messages
    std::uint64_t digest = 0;  ///< of all finish times
};

/// Simulates the schedule of `source` on `machine` in partitions, with the same answer as `simulate`. Throws Standstill
/// in the first process, TimeOverflow, InputError if the machine has no lookahead, or what a poll throws.
template <Source S>
SimulatedInLegs simulate_in_legs(const S& source, const Machine& machine, const LegsOptions& options) {
    using Model = LogGops<S, Unobserved>;
    Unobserved observer;
    Model model(source, machine, options.seed, observer);
    if (model.lookahead() <= 0) {
        throw InputError(
            "only a machine with o_s + L above 0 has a lookahead, without which messages are simulated one "
            "by one: by the sequential scheduler");
    }
    const std::uint32_t partitions = options.crew.partitions();
    const pdes::Manner manner{
        .advance = options.advance, .cell = model.lookahead(), .lazy = options.lazy, .check = options.check};
    pdes::Legs<Model> legs(model,
                           options.cyclic ? pdes::Placement::cyclic(model.lps(), partitions)
                                          : pdes::Placement::block(model.lps(), partitions),
                           manner, options.crew);
    Gathered gathered(partitions);
    SimulatedInLegs result;
    result.counted = legs.run([&](auto& all) {
        Left left;
        all.each_partition([&](auto& partition) {
            partition.worker().unfinished_sends(left);
            partition.each_lp([&](std::uint32_t r, const auto& rank) {
                partition.worker().unfinished(r, rank, left);
                const Time finish = model.finish(r, rank);
                gathered.add(r, finish);
                result.digest += philox({r, static_cast<std::uint64_t>(finish), 0, 0}, {0, 0})[0];
            });
        });
        gathered.add(left);
    });
    pdes::add_up(result.counted, options.crew.wire);
    pdes::add_up(std::span(&result.digest, 1), options.crew.wire);
    result.found.messages = result.counted.statistics.committed;
    Left left = gathered.gather(options.crew, source.ranks(), result.found.finish);
    if (!left.empty()) {
        throw standstill(std::move(left), source);
    }
    return result;
}

}  // namespace idlewave
