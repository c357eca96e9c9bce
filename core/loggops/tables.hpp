#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "base/huge_memory.hpp"
#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/message_classes.hpp"
#include "loggops/observer.hpp"
#include "loggops/one_sided_records.hpp"
#include "loggops/rank.hpp"
#include "loggops/rendezvous_records.hpp"
#include "loggops/request.hpp"
#include "machine/machine.hpp"

namespace idlewave::loggops {

/// Sources that may have one-sided ops. Of others the simulation does not compile what these need.
template <class S>
concept MayHaveOneSided = requires(const S& source) { source.has_one_sided(); };

template <class S>
[[nodiscard]] bool has_one_sided(const S& source) {
    if constexpr (MayHaveOneSided<S>) {
        return source.has_one_sided();
    } else {
        return false;
    }
}

/// What all threads of a simulation share: its input, the message classes, and those columns of the ranks that most
/// ranks need seldom, so that a Rank stays small. A thread writes only the rows of its own ranks.
template <goal::Source S, class Observer>
struct RankTables {
    using Moment = typename Observer::Moment;
    using State = Rank<S, Moment>;
    using Layout = std::conditional_t<S::single_cpu_and_nic, SingleResourceLayout, ResourceLayout>;

    RankTables(const S& source_, const machine::Machine& machine_, std::uint64_t seed_, Observer& observer_)
        : source(source_),
          machine(machine_),
          seed(seed_),
          observer(observer_),
          layout{static_cast<std::uint16_t>(source.cpus()), static_cast<std::uint16_t>(source.nics())},
          classes(machine),
          processed(source.ranks()),
          open(source.ranks()),
          one_sided(has_one_sided(source) ? source.ranks() : 0),
          noise(machine.noise.silent() ? 0 : source.ranks()),
          free_times(layout.size() == std::tuple_size_v<decltype(State::free_times)>
                         ? 0
                         : std::size_t{source.ranks()} * layout.size()) {}

    [[nodiscard]] Moment* free_times_of(std::uint32_t rank, State& state) {
        return free_times.empty() ? state.free_times.data() : &free_times[std::size_t{rank} * layout.size()];
    }
    [[nodiscard]] const Moment* free_times_of(std::uint32_t rank, const State& state) const {
        return free_times.empty() ? state.free_times.data() : &free_times[std::size_t{rank} * layout.size()];
    }

    const S& source;
    const machine::Machine& machine;
    std::uint64_t seed;
    Observer& observer;
    Layout layout;
    MessageClasses classes;
    HugeArray<Moment> processed;     ///< by rank: the last message is processed, where that is after the CPU is free
    HugeArray<OpenRendezvous> open;  ///< by rank
    HugeArray<OneSidedState<typename S::Cookie>> one_sided;  ///< by rank, if the schedule has one-sided ops
    HugeArray<machine::NoiseState> noise;                    ///< by rank, if there is noise
    HugeArray<Moment> free_times;  ///< by rank and resource, if there are more than a State holds
};

}  // namespace idlewave::loggops
