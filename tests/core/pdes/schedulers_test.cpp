#include "pdes/schedulers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "behaviour.hpp"
#include "pdes/conservative.hpp"
#include "pdes/handler_model.hpp"
#include "pdes/optimistic.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/scheduler.hpp"
#include "pdes/sequential.hpp"
#include "segmented_runs.hpp"

namespace idlewave {
namespace {

using CopiedWindows = pdes::HandlerModel<testing::CopiedModel, false>;
using WithoutLookahead = pdes::HandlerModel<testing::CopiedModel, true>;

static_assert(pdes::SegmentedScheduler<pdes::ConservativeScheduler<CopiedWindows>, CopiedWindows>);
static_assert(pdes::SegmentedScheduler<pdes::OptimisticScheduler<CopiedWindows>, CopiedWindows>);
static_assert(pdes::Scheduler<pdes::SequentialScheduler<CopiedWindows>, CopiedWindows>);
static_assert(!pdes::SegmentedScheduler<pdes::SequentialScheduler<CopiedWindows>, CopiedWindows>);
static_assert(std::is_same_v<pdes::Sequential::Of<WithoutLookahead>, pdes::SequentialScheduler<WithoutLookahead>>);

/// What a configuration is refused with, for a model with and without a lookahead.
template <class M>
std::string refusal_of_run(const std::string& scheduler, std::uint32_t threads = 1, const std::string& directory = {}) {
    pdes::RunConfiguration configuration;
    configuration.scheduler = scheduler;
    configuration.threads = threads;
    configuration.checkpoint.directory = directory;
    try {
        pdes::check_scheduler<M>(configuration);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(Schedulers, EachIsInTheTableOnceWithADescription) {
    std::vector<std::string> names;
    pdes::each_scheduler([&](const auto& line) {
        EXPECT_FALSE(line.description.empty());
        for (const std::string& name : names) {
            EXPECT_NE(line.name, name);
        }
        names.emplace_back(line.name);
        EXPECT_EQ(refusal_of_run<CopiedWindows>(names.back()), "none");
    });
    EXPECT_GE(names.size(), 4U);
    EXPECT_EQ(pdes::scheduler_names([](const auto& line) { return line.traits.rolls_back; }), "timewarp");
}

TEST(Schedulers, ARunThatASchedulerCannotMakeIsRefusedWithWhatCan) {
    EXPECT_EQ(
        refusal_of_run<CopiedWindows>("eager"),
        "there is no scheduler 'eager'; there are " + pdes::scheduler_names([](const auto& /*line*/) { return true; }));
    EXPECT_EQ(refusal_of_run<CopiedWindows>("check", 2), "check runs on one thread of one process");
    EXPECT_EQ(refusal_of_run<CopiedWindows>("yawns", 2, "directory"), "none");
    const std::string yawns = refusal_of_run<WithoutLookahead>("yawns");
    EXPECT_TRUE(yawns.starts_with("yawns needs a lookahead, and the model has none: sequential, timewarp")) << yawns;
    const std::string sequential = refusal_of_run<WithoutLookahead>("sequential", 1, "directory");
    EXPECT_TRUE(sequential.starts_with("without a lookahead sequential writes no checkpoints: timewarp")) << sequential;
    EXPECT_EQ(refusal_of_run<WithoutLookahead>("timewarp", 2, "directory"), "none");
}

TEST(Schedulers, ARunByEachGivesTheSameDigest) {
    const std::uint64_t digest = testing::run(testing::SavingModel(testing::Wordy{}), {}).digest;
    pdes::each_scheduler([&](const auto& line) {
        const pdes::RunConfiguration way{.scheduler = std::string(line.name)};
        EXPECT_EQ(testing::run(testing::SavingModel(testing::Wordy{}), way).digest, digest) << line.name;
    });
}

}  // namespace
}  // namespace idlewave
