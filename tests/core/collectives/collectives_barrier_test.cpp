#include <gtest/gtest.h>

#include <vector>

#include "collective_run.hpp"

namespace idlewave::collectives {
namespace {

using namespace testing;

std::vector<Item> presences(std::uint32_t ranks) {
    std::vector<Item> items;
    for (std::uint32_t r = 0; r < ranks; ++r) {
        items.push_back({r, 0, by_all});
    }
    return items;
}

CallOf ways(std::uint32_t ranks, std::uint32_t n) {
    return [=](std::uint32_t rank) {
        CollectiveCall call = call_of(rank, ranks, 0, 1);
        call.ways = n;
        return call;
    };
}

TEST(Barrier, NoRankLeavesBeforeItHasHeardOfAll) {
    for (const Algorithm& a : algorithms()) {
        if (a.collective != Collective::barrier) {
            continue;
        }
        for (const std::uint32_t P : rank_counts) {
            const CollectiveRun run(a.step, P, calls(P, 0, 1));
            ASSERT_EQ(spread(run.messages(), P, presences(P), false), "") << a.name << ", " << P << " ranks";
            for (std::uint32_t r = 0; r < P; ++r) {
                ASSERT_EQ(run.computed(r), 0) << "there is nothing to reduce";
            }
        }
    }
}

TEST(Barrier, DisseminationTakesLog2OfTheRanksRounds) {
    for (const std::uint32_t P : rank_counts) {
        const CollectiveRun run(algorithm(Collective::barrier, "dissemination").step, P, calls(P, 0, 1));
        EXPECT_EQ(run.messages().size(), P * log2_up(P));
    }
}

TEST(Barrier, NWayDisseminationHearsOfAllForAnyN) {
    const StepFunction step = algorithm(Collective::barrier, "nway_dissemination").step;
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t n : {1U, 2U, 3U, 7U, 100U}) {
            for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous}) {
                const CollectiveRun run(step, P, ways(P, n), protocol);
                ASSERT_EQ(run.wrong(), "") << P << " ranks, n = " << n;
                ASSERT_EQ(spread(run.messages(), P, presences(P), false), "") << P << " ranks, n = " << n;
            }
        }
    }
}

TEST(Barrier, NWayDisseminationTakesNMessagesInEachOfLogRoundsOnAPowerOfNPlusOne) {
    const StepFunction step = algorithm(Collective::barrier, "nway_dissemination").step;
    EXPECT_EQ(CollectiveRun(step, 9, ways(9, 2)).messages().size(), 9 * 2 * 2);
    EXPECT_EQ(CollectiveRun(step, 64, ways(64, 3)).messages().size(), 64 * 3 * 3);
    EXPECT_EQ(CollectiveRun(step, 8, ways(8, 7)).messages().size(), 8 * 7);
}

TEST(Barrier, OneWayDisseminationIsDissemination) {
    const auto sent = [](const char* name, std::uint32_t P) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
        const CollectiveRun run(algorithm(Collective::barrier, name).step, P, ways(P, 1));
        for (const Sent& m : run.messages()) {
            pairs.emplace_back(m.from, m.to);
        }
        return pairs;
    };
    for (const std::uint32_t P : rank_counts) {
        EXPECT_EQ(sent("nway_dissemination", P), sent("dissemination", P));
    }
}

TEST(Barrier, LinearAndTreeTakeTwoMessagesForEveryOtherRank) {
    for (const char* name : {"linear", "tree"}) {
        for (const std::uint32_t P : rank_counts) {
            EXPECT_EQ(CollectiveRun(algorithm(Collective::barrier, name).step, P, calls(P, 0, 1)).messages().size(),
                      2 * (P - 1));
        }
    }
}

}  // namespace
}  // namespace idlewave::collectives
