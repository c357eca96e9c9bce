#pragma once

#include <cstdint>
#include <vector>

#include "goal/source.hpp"
#include "machine/machine.hpp"
#include "pdes/statistics.hpp"

namespace idlewave::testing {

/// What a simulation in partitions that take turns leads to; the observer has the rest.
template <class Moment>
struct InterleavedRanks {
    std::vector<Moment> finish;
    pdes::Statistics statistics;
};

/// Simulates `source` under Time Warp, with the ranks in `count` partitions that take turns as dice decide. `seed` is
/// that of the noise and of the dice. Its definition is in run_interleaved_ranks.hpp.
template <goal::Source S, class Observer>
InterleavedRanks<typename Observer::Moment> interleaved_ranks(const S& source, const machine::Machine& machine,
                                                              std::uint64_t seed, std::uint32_t count, bool lazy,
                                                              Observer& observer);

}  // namespace idlewave::testing
