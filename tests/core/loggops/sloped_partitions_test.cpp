#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "event_runs.hpp"
#include "loggops/simulate_partitioned.hpp"
#include "loggops/slopes.hpp"
#include "outcome.hpp"
#include "pdes/optimistic.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/thread_transport.hpp"
#include "random_schedule.hpp"
#include "trials.hpp"

namespace idlewave::loggops {
namespace {

using testing::Dice;
using Serialisable = SerialisableDifferentiation;

bool alike(const std::vector<Slopes<2>>& a, const std::vector<Serialisable::Moment>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.time == y.time && x.level(0) == y.level(0) && x.level(1) == y.level(1) &&
               x.computation() == y.computation();
    });
}

/// The finish times of partitions that take turns as dice decide. Adds the events that were rolled back.
std::vector<Serialisable::Moment> interleaved(const goal::Graph& graph, const machine::Machine& machine,
                                              std::uint64_t seed, std::uint32_t count, std::uint64_t& rolled_back) {
    using Model = LogGops<goal::Graph, Serialisable>;
    using Transport = pdes::ThreadTransport<Serialisable::Payload>;
    Serialisable observer;
    Model model(graph, machine, seed, observer);
    pdes::PartitionOptions options{.lazy = seed % 2 == 0};
    options.cell = model.lookahead();
    const auto placement = pdes::Placement::cyclic(graph.ranks(), count);
    Transport transport(count);
    pdes::OptimisticScheduler<Model, Transport> partitions(model, placement, transport, options);
    partitions.begin();
    testing::interleaved(seed, count)(partitions);
    std::vector<Serialisable::Moment> finish(graph.ranks());
    partitions.each_lp([&](std::uint32_t r, const auto& rank) { finish[r] = model.finish(r, rank); });
    rolled_back += partitions.statistics().rolled_back;
    return finish;
}

TEST(SlopedPartitions, HaveTheDerivativesOfOneLoop) {
    std::uint64_t rolled_back = 0;
    std::uint64_t ended = 0;
    for (std::uint64_t seed = 0; seed < testing::trials(1000); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        const goal::Graph graph = testing::random_schedule(dice, 2 + dice.small(6), 1 + dice.small(60));
        std::vector<Slopes<2>> one;
        try {
            Differentiation<2> observer;
            one = simulate(graph, machine, {.seed = seed, .threads = 1, .poll = {}}, observer).finish;
        } catch (const Standstill&) {
            continue;
        }
        ++ended;
        ASSERT_TRUE(alike(one, interleaved(graph, machine, seed, 1 + dice.small(4), rolled_back))) << "seed " << seed;
        pdes::RunConfiguration configuration;
        configuration.scheduler = seed % 3 == 0 ? "check" : seed % 3 == 1 ? "yawns" : "timewarp";
        configuration.threads = seed % 3 == 0 ? 1 : 1 + dice.small(3);
        Serialisable observer;
        ASSERT_TRUE(alike(one, simulate_partitioned(graph, machine, seed, configuration, observer).found.finish))
            << "seed " << seed;
    }
    EXPECT_GT(ended, testing::trials(400));
    EXPECT_GT(rolled_back, testing::trials(30));
}

}  // namespace
}  // namespace idlewave::loggops
