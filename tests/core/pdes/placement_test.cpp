#include "pdes/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "behaviour.hpp"
#include "pdes/load_balancing.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/run_model.hpp"
#include "segmented_runs.hpp"

namespace idlewave {
namespace {

using testing::BareEventsModel;
using testing::Behaviour;
using testing::run;
using testing::ways;

/// A tenth of the LPs has nearly all events.
struct Uneven : Behaviour {
    [[nodiscard]] std::uint32_t lps() const override { return 1000; }
    [[nodiscard]] Time lookahead() const override { return 1000; }
    [[nodiscard]] std::uint64_t seed() const override { return 4; }

    void start(State& /*state*/, Context& context) const override {
        for (int i = 0; i < (context.self() < 100 ? 20 : 1); ++i) {
            context.send(context.self(), 0, {});
        }
    }

    void handle(State& state, const Payload& /*payload*/, Context& context) const override {
        ++state.handled;
        state.digest = (state.digest ^ static_cast<std::uint64_t>(context.now())) * 0x9e3779b97f4a7c15U;
        const Time delay = 1000 + static_cast<Time>(context.random_bits()[0] % 4000);
        if (context.now() < 1'000'000) {
            context.send(context.self(), delay, {});
        }
    }
};

TEST(Placement, LpsMigrateToPartitionsWithFewerEventsAndTheResultStays) {
    const pdes::RunResult whole = run(BareEventsModel(Uneven{}), {});
    for (pdes::RunConfiguration way : ways()) {
        way.migrate_after = 50'000;
        way.pin = true;
        const pdes::RunResult moved = run(BareEventsModel(Uneven{}), way);
        EXPECT_EQ(moved.digest, whole.digest);
        EXPECT_EQ(moved.statistics.counts.committed, whole.statistics.counts.committed);
        EXPECT_EQ(moved.statistics.segments, way.threads == 1 ? 1U : 2U)
            << "one migration, after which partitions are balanced";
    }
}

/// Three groups of LPs, by the remainder of their numbers by 3. LPs send events within their group only.
struct Cliques : Behaviour {
    [[nodiscard]] std::uint32_t lps() const override { return 90; }
    [[nodiscard]] Time lookahead() const override { return 1000; }
    [[nodiscard]] std::uint64_t seed() const override { return 4; }

    void start(State& /*state*/, Context& context) const override { context.send(context.self(), 0, {}); }

    void handle(State& state, const Payload& /*payload*/, Context& context) const override {
        ++state.handled;
        state.digest = (state.digest ^ static_cast<std::uint64_t>(context.now())) * 0x9e3779b97f4a7c15U;
        const Philox bits = context.random_bits();
        if (context.now() < 1'000'000) {
            context.send(static_cast<std::uint32_t>(context.self() % 3 + 3 * below(30, bits[0])),
                         1000 + static_cast<Time>(bits[1] % 1000), {});
        }
    }
};

TEST(Placement, LpsMigrateAsTheCommunicationMatrixSaysAndTheResultStays) {
    const pdes::RunResult whole = run(BareEventsModel(Cliques{}), {});
    for (const std::uint32_t threads : {2U, 3U}) {
        pdes::RunConfiguration way;
        way.scheduler = "timewarp";
        way.threads = threads;
        way.migrate_after = 5'000;
        std::uint64_t apart = 0;
        way.choose_placement = [&](const std::vector<std::uint64_t>& between, std::uint32_t partitions) {
            std::vector<std::uint32_t> table;
            for (std::uint32_t group = 0; group < 90; ++group) {
                for (std::uint32_t other = 0; other < 90; ++other) {
                    apart += group % 3 == other % 3 ? 0 : between[90 * group + other];
                }
                table.push_back(group % 3 % partitions);
            }
            EXPECT_GT(std::accumulate(between.begin(), between.end(), std::uint64_t{0}), 5'000U);
            return table;
        };
        const pdes::RunResult moved = run(BareEventsModel(Cliques{}), way);
        EXPECT_EQ(apart, 0U) << "no events between groups";
        EXPECT_EQ(moved.digest, whole.digest);
        EXPECT_EQ(moved.statistics.segments, 2U);
        if (threads == 3) {
            EXPECT_LT(moved.statistics.counts.remote_events, whole.statistics.counts.committed / 4)
                << "no remote events after the migration";
        }
    }
}

TEST(Placement, ABalancedPlacementGivesAllPartitionsAboutAsManyEvents) {
    std::vector<std::uint64_t> weights(1000, 1);
    std::fill_n(weights.begin(), 100, 20);
    for (const std::uint32_t partitions : {1U, 2U, 3U, 7U, 1000U, 3000U}) {
        const pdes::Placement placement = pdes::balanced(weights, 1000, partitions);
        std::uint32_t placed = 0;
        for (std::uint32_t p = 0; p < partitions; ++p) {
            std::uint64_t weight = 0;
            for (std::uint32_t i = 0; i < placement.size(p); ++i, ++placed) {
                const auto place = placement.of(placement.lp_of(p, i));
                ASSERT_EQ(std::pair(place.partition, place.local), std::pair(p, i));
                weight += weights[placement.lp_of(p, i)];
            }
            EXPECT_LE(weight, 2900 / partitions + 20);
        }
        ASSERT_EQ(placed, 1000U);
    }
}

}  // namespace
}  // namespace idlewave
