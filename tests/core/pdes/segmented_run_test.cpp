#include "pdes/segmented_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "behaviour.hpp"
#include "event_runs.hpp"
#include "models/phold.hpp"
#include "pdes/placement.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/run_model.hpp"
#include "segmented_runs.hpp"
#include "trials.hpp"

namespace idlewave {
namespace {

using testing::CommittingModel;
using testing::fresh_directory;
using testing::phold_of;
using testing::run;
using testing::stride;
using testing::trials;
using testing::ways;
using testing::Wordy;

/// A run of some checkpoints.
models::Phold checkpointed() {
    return models::Phold(phold_of(100, 400'000'000 / static_cast<Time>(stride(4))));
}

TEST(SegmentedRun, ARunWithCheckpointsAllTheTimeGivesTheSameResult) {
    const models::Phold phold = checkpointed();
    const pdes::RunResult whole = run(phold, {});
    for (pdes::RunConfiguration way : ways()) {
        way.checkpoint = {.directory = fresh_directory(), .description = "phold", .interval = 0};
        const pdes::RunResult kept = run(phold, way);
        ASSERT_GT(kept.statistics.segments, 2U) << "else the run never paused";
        ASSERT_EQ(kept.digest, whole.digest);
        ASSERT_EQ(kept.statistics.counts.committed, whole.statistics.counts.committed);
    }
}

/// Interrupts a run a little after its first checkpoint.
struct CutOff {};
std::function<void(Time)> cut_off(const std::string& directory) {
    return [directory, left = 3](Time /*now*/) mutable {
        if (std::filesystem::exists(directory + "/latest") && --left == 0) {
            throw CutOff();
        }
    };
}

TEST(SegmentedRun, AnInterruptedRunContinuesFromItsLastCheckpointWithAnyConfiguration) {
    const models::Phold phold = checkpointed();
    const pdes::RunResult whole = run(phold, {});
    const std::string directory = fresh_directory();
    const std::vector<pdes::RunConfiguration> all = ways();
    // Each is interrupted, and each continues: itself, and after the one before it. All pairs take long.
    const std::size_t pairs = trials(all.size()) == all.size() ? all.size() : 2;
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < pairs; ++j) {
            std::filesystem::remove_all(directory);
            pdes::RunConfiguration cut = all[i];
            pdes::RunConfiguration second = all[(i + j) % all.size()];
            cut.checkpoint = {.directory = directory, .description = "phold", .interval = 0};
            cut.poll = cut_off(directory);
            ASSERT_THROW(run(phold, cut), CutOff);
            second.checkpoint = {.directory = directory, .description = "phold", .interval = 0.02, .restart = true};
            const pdes::RunResult rest = run(phold, second);
            ASSERT_EQ(rest.digest, whole.digest);
            ASSERT_EQ(rest.statistics.counts.committed, whole.statistics.counts.committed);
        }
    }
}

TEST(SegmentedRun, RecordsAndDataOutsideOfTheStateAreInTheSnapshot) {
    using Output = std::vector<std::tuple<std::uint32_t, Time, std::uint64_t>>;
    const auto output_of = [](std::uint32_t threads, const pdes::CheckpointOptions& checkpoint) {
        pdes::RunConfiguration configuration;
        configuration.scheduler = "timewarp";
        configuration.threads = threads;
        configuration.checkpoint = checkpoint;
        const auto found = testing::run_with_records(testing::SavingModel(Wordy{}), configuration);
        Output output;
        for (const auto& emitted : found.emitted) {
            output.emplace_back(emitted.lp, emitted.time, emitted.record.word);
        }
        std::stable_sort(output.begin(), output.end(),
                         [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
        return std::pair(output, found.statistics.segments);
    };
    const Output whole = output_of(1, {}).first;
    ASSERT_GT(whole.size(), 1000U);
    for (const std::uint32_t threads : {1U, 2U, 3U}) {
        const auto [kept, segments] =
            output_of(threads, {.directory = fresh_directory(), .description = "wordy", .interval = 0});
        EXPECT_GT(segments, 2U);
        EXPECT_EQ(kept, whole);
    }
}

/// Receives the records of its LPs.
struct Listening : Wordy {
    void commit(std::uint32_t lp, Time time, const Record& record) const override {
        heard[lp].emplace_back(time, record.word);
    }

    mutable std::vector<std::vector<std::pair<Time, std::uint64_t>>> heard =
        std::vector<std::vector<std::pair<Time, std::uint64_t>>>(count);
};

TEST(SegmentedRun, AModelReceivesEachCommittedRecordOnceAndInTheOrderOfItsLp) {
    const Listening alone;
    run(CommittingModel(alone), {});
    std::size_t words = 0;
    for (const auto& own : alone.heard) {
        words += own.size();
        EXPECT_TRUE(std::is_sorted(own.begin(), own.end(), [](auto& a, auto& b) { return a.first < b.first; }));
    }
    ASSERT_GT(words, 1000U);
    for (const pdes::RunConfiguration& way : ways()) {
        const Listening listening;
        run(CommittingModel(listening), way);
        EXPECT_EQ(listening.heard, alone.heard);
    }
    std::uint64_t rolled_back = 0;
    for (std::uint64_t seed = 0; seed < 20; seed += stride(3)) {
        const Listening listening;
        rolled_back += testing::partitioned<false>(CommittingModel(listening), pdes::Placement::cyclic(Wordy::count, 3),
                                                   {.cell = 100}, testing::interleaved(seed, 3))
                           .statistics.rolled_back;
        ASSERT_EQ(listening.heard, alone.heard) << "seed " << seed;
    }
    EXPECT_GT(rolled_back, 1000 / stride(3));
}

TEST(SegmentedRun, RecordsOfUnloggedExecutionsAreCommittedAfterEarlierOnesInTheLog) {
    const Listening alone;
    run(CommittingModel(alone), {});
    for (std::uint64_t seed = 0; seed < 10; seed += stride(3)) {
        const Listening listening;
        testing::partitioned<false>(CommittingModel(listening), pdes::Placement::cyclic(Wordy::count, 2), {.cell = 100},
                                    testing::in_long_turns(seed, 2));
        ASSERT_EQ(listening.heard, alone.heard) << "seed " << seed;
    }
}

TEST(SegmentedRun, WithoutALookaheadARunContinuesFromACheckpoint) {
    models::PholdParameters parameters = phold_of(100, 200'000'000 / static_cast<Time>(stride(4)));
    parameters.lookahead = 0;
    const models::Phold phold(parameters);
    const pdes::RunResult whole = run(phold, {});
    const std::string directory = fresh_directory();
    for (const std::uint32_t threads : {1U, 2U, 3U}) {
        std::filesystem::remove_all(directory);
        pdes::RunConfiguration way;
        way.scheduler = "timewarp";
        way.threads = threads;
        way.checkpoint = {.directory = directory, .description = "phold", .interval = 0};
        way.poll = cut_off(directory);
        ASSERT_THROW(run(phold, way), CutOff);
        way.poll = {};
        way.threads = 4 - threads;
        way.checkpoint.restart = true;
        EXPECT_EQ(run(phold, way).digest, whole.digest);
    }
}

}  // namespace
}  // namespace idlewave
