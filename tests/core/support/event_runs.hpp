#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "dice.hpp"
#include "pdes/handler_model.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/placement.hpp"
#include "pdes/statistics.hpp"

/// Runs of a model that is written event by event, by each of the schedulers. They are instantiated in few files, since
/// each takes a compiler seconds: for the models of behaviour.hpp and for Phold in pdes/….cpp; for other models a test
/// includes run_events.hpp. The linker names one that is missing.
namespace idlewave::testing {

inline const std::function<void(Time)> no_poll;

/// The states of all LPs at the end of a run.
template <class M>
using States = std::vector<typename M::State>;

/// `deep`: the model may have no lookahead.
template <bool deep = false, class M>
States<M> one_by_one(const M& written);

template <class M>
States<M> windowed(const M& written, std::uint32_t threads);

/// The partitions of a run, which have begun.
struct Partitions {
    std::function<void(const std::function<void(Time)>& poll)> run;
    /// Of the optimistic scheduler: step by step on one thread, as `choose` says.
    std::function<void(const std::function<std::size_t()>& choose)> run_interleaved;
};

/// Runs partitions to their end.
using RunAll = std::function<void(Partitions&)>;

/// What a run of partitions leads to, and counted.
template <class M>
struct Partitioned {
    States<M> states;
    pdes::Statistics statistics;
    std::vector<typename pdes::EmittedOf<pdes::HandlerModelEmits<M>>::Type> emitted;
};

/// By the conservative scheduler, on a thread for each partition.
template <class M>
Partitioned<M> conservative(const M& written, const pdes::Placement& placement, const pdes::PartitionOptions& options,
                            const RunAll& run_all);

/// By the optimistic scheduler.
template <bool deep = false, class M>
Partitioned<M> partitioned(const M& written, const pdes::Placement& placement, const pdes::PartitionOptions& options,
                           const RunAll& run_all);

inline const auto on_threads = [](auto& scheduler) { scheduler.run(no_poll); };

/// Partitions take turns: `next` says whose step is next, by dice and whose `turn` it is, which it may change.
template <class Next>
auto interleaved_by(std::uint64_t seed, Next next) {
    return [=](auto& partitions) {
        Dice dice(seed);
        std::uint32_t turn = 0;
        partitions.run_interleaved([&] { return next(dice, turn); });
    };
}

/// As dice decide: some get far ahead, and others come late.
inline auto interleaved(std::uint64_t seed, std::uint32_t count) {
    return interleaved_by(seed, [=](Dice& dice, std::uint32_t& turn) {
        turn = dice.one_in(8) ? dice.small(count) : turn;
        return dice.one_in(40) ? (turn + 1) % count : turn;
    });
}

/// The turns are long: whoever has one goes as far as it may, and finds much that is certain.
inline auto in_long_turns(std::uint64_t seed, std::uint32_t count) {
    return interleaved_by(seed, [=](Dice& dice, std::uint32_t& turn) {
        turn = dice.one_in(1000) ? dice.small(count) : turn;
        return turn;
    });
}

}  // namespace idlewave::testing
