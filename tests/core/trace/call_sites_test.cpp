#include "trace/call_sites.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "converted_trace.hpp"
#include "trace/computations.hpp"

/// Which calls are made from one site, and how long the computations before them are.
namespace idlewave::trace {
namespace {

using testing::no_root;
using testing::pair;
using testing::rank_of_two;
using testing::trace_of;
using testing::TraceBytes;
using testing::world;

constexpr auto reduce_all = static_cast<Call>(67);

std::vector<std::uint64_t> reduction(std::uint64_t bytes, std::uint64_t communicator = world) {
    return {communicator, no_root, bytes, bytes};
}

std::vector<std::uint64_t> message(std::int32_t peer, std::int32_t tag, std::uint64_t bytes) {
    return {world, pair(peer, tag), bytes};
}

Computations computations(const TraceBytes& rank, bool wall = false) {
    return computations_of(trace_of(std::vector{rank}).ranks, wall);
}

/// By computation, the number of its site.
std::vector<std::uint32_t> sites(const TraceBytes& rank) {
    std::vector<std::uint32_t> found;
    for (const ComputationRow& row : computations(rank).rows) {
        found.push_back(row.site);
    }
    return found;
}

TEST(CallSites, ACallOfALoopIsOneSiteOnceFiveCallsAreBeforeIt) {
    TraceBytes rank = rank_of_two(0);
    for (int i = 0; i < 5; ++i) {
        rank.call(Call::send, 2000, 2000, message(1, 3, 8)).call(reduce_all, 2000, 2000, reduction(8));
    }
    EXPECT_EQ(sites(rank), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 5, 6, 5}));
}

TEST(CallSites, ThreeReductionsOfAnIterationAreThreeSites) {
    TraceBytes rank = rank_of_two(0);
    for (int i = 0; i < 4; ++i) {
        rank.call(Call::send, 2000, 2000, message(1, 3, 8));
        for (int k = 0; k < 3; ++k) {
            rank.call(reduce_all, 2000, 2000, reduction(8));
        }
    }
    const std::vector<std::uint32_t> found = sites(rank);
    EXPECT_EQ(std::vector<std::uint32_t>(found.begin() + 12, found.end()),
              std::vector<std::uint32_t>(found.begin() + 8, found.begin() + 12));
    EXPECT_NE(found[9], found[10]);
    EXPECT_NE(found[10], found[11]);
    EXPECT_NE(found[9], found[11]);
}

TEST(CallSites, PeersAndTagsAndSizesOfOnePowerOfTwoAreTheSameAndCommunicatorsAreNot) {
    const auto id = [](const std::vector<std::uint64_t>& words) {
        return computations(rank_of_two(0).call(Call::send, 2000, 2000, words)).sites.front().site.id();
    };
    EXPECT_EQ(id(message(1, 3, 8)), id(message(0, 77, 15)));
    EXPECT_NE(id(message(1, 3, 8)), id(message(1, 3, 16)));
    EXPECT_NE(id(message(1, 3, 8)), id({2, pair(0, 3), 8})) << "MPI_COMM_SELF";
}

TEST(CallSites, ACommunicatorThatIsMadeAgainAndAgainIsOne) {
    TraceBytes rank = rank_of_two(0);
    for (std::uint64_t i = 0; i < 5; ++i) {
        rank.call(Call::comm_def, 2000, 2000, {77 + i, world, pair(2, 0), pair(0, 1)}, 1)
            .call(reduce_all, 2000, 2000, reduction(8, 77 + i))
            .call(Call::comm_free, 2000, 2000, {77 + i});
    }
    const std::vector<std::uint32_t> found = sites(rank);
    EXPECT_EQ(found[13], found[10]) << "the reduction";
}

TEST(CallSites, TheStartOfAPersistentRequestHasItsSize) {
    TraceBytes rank = rank_of_two(0);
    rank.call(Call::send_init, 2000, 2000, {world, pair(1, 3), 8, 70})
        .call(Call::recv_init, 2000, 2000, {world, pair(1, 3), 4096, 71})
        .call(static_cast<Call>(192), 2000, 2000, {world, no_root, 72, 0, 0});
    for (int i = 0; i < 8; ++i) {
        for (const std::uint64_t request : {70, 70, 70, 71, 71, 71}) {
            rank.call(Call::start, 2000, 2000, {request});
        }
    }
    const std::vector<std::uint32_t> found = sites(rank);
    const std::set<std::uint32_t> last(found.end() - 6, found.end());
    EXPECT_EQ(last.size(), 6U) << "six starts of a loop";
    const Computations all = computations(rank);
    EXPECT_EQ(all.sites[found.back()].most_bytes, 4096);
    EXPECT_EQ(all.sites[found[found.size() - 6]].most_bytes, 8);
    rank.call(Call::request_free, 2000, 2000, {70}).call(Call::start, 2000, 2000, {70});
    EXPECT_EQ(computations(rank).sites.back().most_bytes, 0) << "a request that nothing made";
}

TEST(CallSites, APhaseIsTheLevelOfTheLastPcontrol) {
    TraceBytes rank = rank_of_two(0);
    for (const std::uint64_t level : {0, 1, 1, 1}) {
        rank.call(Call::pcontrol, 2000, 2000, {level});
    }
    const Computations found = computations(rank);
    ASSERT_EQ(found.sites.size(), 4U);
    EXPECT_FALSE(found.sites[0].site.level) << "before the first";
    EXPECT_EQ(found.sites[1].site.level, 0);
    EXPECT_EQ(found.sites[2].site.level, 1);
    EXPECT_EQ(found.sites[2].site.id(), computations(rank).sites[2].site.id());
    EXPECT_NE(found.sites[0].site.id(), found.sites[1].site.id());
}

TEST(Computations, AreTheTimesBetweenCallsWithoutWaitsAndTestsAndTheTracer) {
    TraceBytes rank = rank_of_two(0);
    rank.call(Call::send, 1500, 1600, message(1, 3, 8))
        .call(Call::core_wait, 1600, 1600, {300, 50, 20})
        .call(Call::tracer, 1700, 1710, {})
        .call(Call::polls, 1720, 1730, {4, 5})
        .call(Call::send, 2600, 2700, message(1, 3, 9))
        .call(Call::core_wait, 2700, 2700, {1000, 0, 0})
        .call(Call::send, 2800, 2800, message(1, 3, 10));
    const auto times = [&](bool wall) {
        std::vector<std::int64_t> found;
        for (const ComputationRow& row : computations(rank, wall).rows) {
            found.push_back(row.ns);
        }
        return found;
    };
    EXPECT_EQ(times(false), (std::vector<std::int64_t>{500, 1000 - 300 - 20 - 10 - 5, 0}));
    EXPECT_EQ(times(true), (std::vector<std::int64_t>{500, 1000 - 20 - 10 - 5, 100}));
    EXPECT_EQ(computations(rank).sites.back().most_bytes, 10);
}

}  // namespace
}  // namespace idlewave::trace
