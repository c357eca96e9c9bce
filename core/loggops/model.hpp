#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "base/error.hpp"
#include "base/huge_memory.hpp"
#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/message.hpp"
#include "loggops/message_classes.hpp"
#include "loggops/observer.hpp"
#include "loggops/occupy.hpp"
#include "loggops/rank.hpp"
#include "machine/machine.hpp"

namespace idlewave {

template <Source S, class Observer>
class RankWorker;

/// The LogGOPS rank (docs/model.md) as a model of the kernel: an LP is a rank, an event the arrival of a message's
/// first byte. This is what all threads share; what a rank does is in worker.hpp.
template <Source S, class Observer>
class LogGops {
  public:
    using Moment = typename Observer::Moment;
    using State = Rank<S, Moment>;
    using Payload = typename Observer::Payload;
    using Worker = RankWorker<S, Observer>;
    static constexpr bool writes_undo = true;
    static constexpr bool conservative_only =
        Observer::observes;  // a moment with causes or slopes has no serialised form
    using Layout = std::conditional_t<S::single_cpu_and_nic, SingleResourceLayout, ResourceLayout>;

    LogGops(const S& source_, const Machine& machine_, std::uint64_t seed_, Observer& observer_)
        : source(source_),
          machine(machine_),
          seed(seed_),
          observer(observer_),
          layout{static_cast<std::uint16_t>(source.cpus()), static_cast<std::uint16_t>(source.nics())},
          classes(machine),
          network_control(costs(machine.network, 1)),
          node_control(costs(machine.node ? *machine.node : machine.network, 1)),
          processed(source.ranks()),
          open(source.ranks()),
          noise(machine.noise.silent() ? 0 : source.ranks()),
          free_times(layout.size() == std::tuple_size_v<decltype(State::free_times)>
                         ? 0
                         : std::size_t{source.ranks()} * layout.size()) {}

    [[nodiscard]] std::uint32_t lps() const { return source.ranks(); }
    [[nodiscard]] Time lookahead() const { return machine.lookahead(); }
    /// Of a message that travels as a code.
    [[nodiscard]] const Payload& payload(std::uint16_t code) const {
        if constexpr (!Observer::observes) {
            return classes[code].message;
        } else if constexpr (requires { observer.payload(code); }) {
            return observer.payload(code);
        } else {
            return unknown_;
        }
    }

    [[nodiscard]] Moment* free_times_of(std::uint32_t r, State& rank) {
        return free_times.empty() ? rank.free_times.data() : &free_times[std::size_t{r} * layout.size()];
    }

    /// When rank `r` has finished: the latest of an op's end, a CPU free, a message processed.
    [[nodiscard]] Moment finish(std::uint32_t r, const State& rank) const {
        Moment finish = processed[r];
        for (std::uint16_t i = 0; i < layout.cpus; ++i) {
            finish = latest(finish,
                            free_times.empty() ? rank.free_times[i] : free_times[std::size_t{r} * layout.size() + i]);
        }
        return finish;
    }

    const S& source;
    const Machine& machine;
    std::uint64_t seed;
    Observer& observer;
    Layout layout;
    MessageClasses classes;
    Costs network_control;  ///< of a message of 1 byte that is not an op's
    Costs node_control;
    HugeArray<Moment> processed;     ///< by rank: when the last message was, where that is later than a CPU was free
    HugeArray<OpenRendezvous> open;  ///< by rank
    HugeArray<NoiseState> noise;     ///< by rank, if there is any
    HugeArray<Moment> free_times;    ///< by rank, if there are more than a State holds

  private:
    Payload unknown_{};
};

}  // namespace idlewave

#include "loggops/worker.hpp"
