#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collective_run.hpp"
#include "collectives/composition.hpp"
#include "collectives/pattern.hpp"

namespace idlewave::collectives {
namespace {

using namespace testing;

StepFunction release_gather(Collective collective) {
    return algorithm(collective, "release_gather").step;
}

/// The messages that are between the root and rank 0, and none of the buffer.
std::size_t messages_beside_the_buffer(Collective collective, std::uint32_t ranks, std::uint32_t root) {
    std::size_t count = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        for_each_step(release_gather(collective), call_of(rank, ranks, root, 100), [&](const Step& step) {
            const bool sends = step.kind == Step::Kind::op && step.op_kind == goal::OpKind::send;
            count += sends && !step.through_shared_buffer ? 1 : 0;
        });
    }
    return count;
}

TEST(ReleaseGather, BringsWhatEachRankHasToAllThatNeedIt) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t root : roots_of(P)) {
            const CollectiveRun bcast(release_gather(Collective::bcast), P, calls(P, root, 100));
            ASSERT_EQ(bcast.wrong(), "");
            ASSERT_EQ(spread(bcast.messages(), P, {{root, 100, by_all}}, false), "") << P << " ranks, root " << root;
            const CollectiveRun reduce(release_gather(Collective::reduce), P, calls(P, root, 100));
            ASSERT_EQ(reduce.wrong(), "");
            ASSERT_EQ(add_up(reduce.messages(), P, {{root, 1, by_all}}, false), "") << P << " ranks, root " << root;
        }
    }
}

TEST(ReleaseGather, OfAnotherRootThanRank0ADataMessageIsLeft) {
    for (const Collective collective : {Collective::bcast, Collective::reduce}) {
        EXPECT_EQ(messages_beside_the_buffer(collective, 8, 0), 0U);
        EXPECT_EQ(messages_beside_the_buffer(collective, 8, 5), 1U);
    }
    EXPECT_EQ(messages_beside_the_buffer(Collective::allreduce, 8, 0), 0U);
    EXPECT_EQ(messages_beside_the_buffer(Collective::barrier, 8, 0), 0U);
}

TEST(ReleaseGather, EachRankReducesWhatItsChildrenHave) {
    const auto reductions = [](std::uint32_t ranks, std::uint64_t bytes, std::uint32_t rank) {
        const CollectiveRun run(release_gather(Collective::allreduce), ranks, calls(ranks, 0, bytes));
        return static_cast<std::uint64_t>(run.computed(rank)) / bytes;
    };
    EXPECT_EQ(reductions(64, 2048, 0), 4U) << "MPICH's tree of small reductions has four ways";
    EXPECT_EQ(reductions(64, 2049, 0), 2U) << "that of others two";
    EXPECT_EQ(reductions(64, 2049, 63), 0U);
}

/// Every message takes L = 1000 ps, and bytes 1 ps each where they are copied out of the buffer.
Time time_of_call(Collective collective, std::uint32_t ranks, std::uint64_t bytes) {
    machine::Machine machine;
    machine.shared_buffer = machine::Level{};
    machine.shared_buffer->segments[0].parameters = {.L = 1000, .O_r = 1};
    const Composition source = pattern(algorithm(collective, "release_gather"), ranks, bytes, 0);
    const std::vector<Time> finish = finish_of(source, machine);
    return *std::max_element(finish.begin(), finish.end());
}

TEST(ReleaseGather, TakesAsManyLatenciesAsItsTreesAreHigh) {
    for (const auto& [ranks, height] : {std::pair{2U, 1}, std::pair{65U, 1}, std::pair{66U, 2}}) {
        EXPECT_EQ(time_of_call(Collective::barrier, ranks, 1), 2000 * height) << ranks << " ranks";
        EXPECT_EQ(time_of_call(Collective::bcast, ranks, 1), 1000 * height) << ranks << " ranks";
    }
    EXPECT_EQ(time_of_call(Collective::allreduce, 5, 1), 2000) << "up one level of four ways, and down one";
    EXPECT_EQ(time_of_call(Collective::allreduce, 6, 1), 3000);
    EXPECT_EQ(time_of_call(Collective::reduce, 6, 1), 4000);
}

TEST(ReleaseGather, CopiesAVectorOutOfTheBufferOnceWhateverTheRanks) {
    for (const std::uint32_t ranks : {2U, 5U, 65U}) {
        EXPECT_EQ(time_of_call(Collective::bcast, ranks, 5001), 1000 + 5000) << ranks << " ranks";
        EXPECT_EQ(time_of_call(Collective::allreduce, ranks, 5001) % 1000, 0);
        EXPECT_LT(time_of_call(Collective::allreduce, ranks, 5001), 10'000 + 5000) << ranks << " ranks";
    }
}

}  // namespace
}  // namespace idlewave::collectives
