#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "goal/op.hpp"

namespace idlewave {

/// An op whose requirements are met, and when they were. `cookie` is the source's own and comes back with every
/// notice of that op.
struct ReadyOp {
    Place place = 0;
    std::uint32_t cookie = 0;
    Time at = 0;
    Op op = {};
};

/// An op that has started or ended.
struct Notice {
    Place place = 0;
    std::uint32_t cookie = 0;
    Time time = 0;  ///< may lie ahead: an end is told as soon as it is certain
};

/// Where the simulated ranks get their ops from. A source is shared and immutable; all that changes in a run is in a
/// `State` per rank. It is told when ops start and end, and answers with the ops that this makes ready.
template <class S>
concept Source = requires(const S& source, typename S::State& state, const typename S::State& view, std::uint32_t rank,
                          const Notice& notice, std::vector<ReadyOp>& ready, std::vector<Waiting>& waiting) {
    { source.ranks() } -> std::convertible_to<std::uint32_t>;
    { source.cpus() } -> std::convertible_to<std::uint32_t>;
    { source.nics() } -> std::convertible_to<std::uint32_t>;
    source.begin(rank, state, ready);
    source.started(rank, state, notice, ready);
    source.ended(rank, state, notice, ready);
    { source.name(rank, Place{}) } -> std::convertible_to<std::string>;
    source.unfinished(rank, view, waiting);
};

}  // namespace idlewave
