#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pdes/event.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_statistics.hpp"

namespace idlewave::pdes {
namespace {

TEST(Statistics, PartitionsAddUpExceptForTheRoundsOfGvtThatAllTakePartIn) {
    Statistics sum{.committed = 5, .rolled_back = 2, .gvt_rounds = 7, .log_bytes = 100};
    sum += {.committed = 3, .rolled_back = 1, .gvt_rounds = 7, .log_bytes = 50};
    EXPECT_EQ(sum.committed, 8U);
    EXPECT_EQ(sum.rolled_back, 3U);
    EXPECT_EQ(sum.gvt_rounds, 7U);
    EXPECT_EQ(sum.log_bytes, 150U);
}

TEST(Statistics, SegmentsOfARunAddUpExceptForTheMemoryThatWasFreedBetween) {
    Statistics run{.committed = 5, .gvt_rounds = 7, .log_bytes = 100};
    run.add_segment({.committed = 3, .gvt_rounds = 2, .log_bytes = 50});
    EXPECT_EQ(run.committed, 8U);
    EXPECT_EQ(run.gvt_rounds, 9U);
    EXPECT_EQ(run.log_bytes, 100U);
}

TEST(Statistics, ProcessesSumEveryCountButTheRounds) {
    Statistics counts;
    for (std::uint64_t* count : counts.sums()) {
        *count = 1;
    }
    EXPECT_EQ(counts.gvt_rounds, 0U);
    counts.gvt_rounds = 1;
    Statistics twice = counts;
    twice += counts;
    for (const std::uint64_t* count : twice.sums()) {
        EXPECT_EQ(*count, 2U);
    }
    EXPECT_EQ(sizeof(Statistics), (counts.sums().size() + 1) * sizeof(std::uint64_t)) << "a count is missing";
}

TEST(Statistics, TheEfficiencyIsThatOfRoss) {
    EXPECT_EQ(Statistics{}.efficiency(), 1.0);
    EXPECT_EQ((Statistics{.committed = 100, .rolled_back = 25}.efficiency()), 0.75);
    EXPECT_EQ((Statistics{.committed = 100, .rolled_back = 150}.efficiency()), -0.5);
}

/// A partition of 4 of 1,000 LPs that counts what its LPs receive.
PartitionStatistics counting() {
    PartitionOptions options;
    options.migrate_after = 1;
    options.counts_communication = true;
    return {options, 4, 1'000};
}

TEST(Statistics, EventsAreCountedByTheirReceiverAndByTheGroupsOfBoth) {
    PartitionStatistics statistics = counting();
    const std::uint32_t groups = CommunicationMatrix::groups_of(1'000);
    const std::uint32_t size = group_size(1'000, CommunicationMatrix::max_groups);
    const std::vector<QueuedEvent> events = {{.source = 0, .sequence = 0},
                                             {.source = 999, .sequence = 0},
                                             {.source = 999, .sequence = 0},
                                             {.source = QueuedEvent::timer, .sequence = 0}};
    statistics.communication.count(2, 502, events);
    EXPECT_EQ(statistics.communication.received(2), 4U);
    EXPECT_EQ(statistics.communication.received(1), 0U);
    std::vector<std::uint64_t> between(std::size_t{groups} * groups);
    statistics.communication.add_between(between);
    EXPECT_EQ(between[502 / size], 1U);
    EXPECT_EQ(between[std::size_t{999 / size} * groups + 502 / size], 2U);
}

TEST(Statistics, ALongRunHasAsManySamplesAsAShortOneAndThemEvenlySpread) {
    PartitionStatistics statistics = counting();
    for (Time gvt = 0; gvt < 100'000; ++gvt) {
        statistics.sample(gvt, 0);
    }
    const auto& samples = statistics.series.samples();
    ASSERT_GT(samples.size(), 200U);
    ASSERT_LT(samples.size(), 600U);
    for (std::size_t i = 2; i < samples.size(); ++i) {
        ASSERT_EQ(samples[i].gvt - samples[i - 1].gvt, samples[1].gvt - samples[0].gvt);
    }
}

}  // namespace
}  // namespace idlewave::pdes
