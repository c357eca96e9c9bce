#include <gtest/gtest.h>

#include "goal/goal_reader.hpp"
#include "loggopsim/costs.hpp"
#include "loggopsim/simulate.hpp"
#include "loggopsim/write_out.hpp"

namespace idlewave {
namespace {

machine::Machine defaults() {
    machine::Machine machine;
    machine.network.segments[0].parameters = {.L = 2500, .o_s = 1500, .o_r = 1500, .g = 1000, .G = 6};
    return machine;
}

TEST(LoggopsimCosts, AMessageOfNoBytesCostsAByteLessThanNothing) {
    EXPECT_EQ(loggopsim::further_bytes(6, 0), -6);
    EXPECT_EQ(loggopsim::further_bytes(6, 1), 0);
    EXPECT_EQ(loggopsim::further_bytes(6, 8), 42);
    EXPECT_EQ(loggopsim::reception({.G = 6, .O = 0}, 0), -6) << "without a sign, -6 is larger than 0";
    EXPECT_EQ(loggopsim::reception({.G = 6, .O = 2}, 0), -2);
}

TEST(LoggopsimCosts, SayWhenAProductLeavesTheRangeOfTimes) {
    EXPECT_THROW(static_cast<void>(loggopsim::further_bytes(never / 2, 4)), TimeOverflow);
}

TEST(Loggopsim, AllThatWaitForOneRankGoOneAfterTheOther) {
    constexpr int senders = 20'000;
    std::string goal = "num_ranks " + std::to_string(senders + 1) + "\nrank 0 {\n";
    for (int i = 1; i <= senders; ++i) {
        goal += "recv 1b from " + std::to_string(i) + "\n";
    }
    goal += "}\n";
    for (int i = 1; i <= senders; ++i) {
        goal += "rank " + std::to_string(i) + " {\nsend 1b to 0\n}\n";
    }
    const auto result = loggopsim::simulate(goal::read_goal(goal, "gather"), defaults(), {});
    EXPECT_EQ(result.finish[0], 4000 + Time{senders} * 1500);
    EXPECT_EQ(result.messages, senders);
}

TEST(Loggopsim, AScheduleIsWrittenOutUpToALimitOfOps) {
    const auto listing_of = [](std::uint32_t /*rank*/) {
        return goal::RankSchedule{
            .ops = {goal::Op{.size = 7}, goal::Op{.size = 5}}, .requirements = {{1, 0, goal::Edge::end}}, .labels = {}};
    };
    const goal::Graph graph = loggopsim::write_out(3, listing_of, 6);
    EXPECT_EQ(graph.ranks(), 3U);
    EXPECT_EQ(loggopsim::simulate(graph, defaults(), {}).finish, (std::vector<Time>{12'000, 12'000, 12'000}));
    EXPECT_THROW(static_cast<void>(loggopsim::write_out(3, listing_of, 5)), InputError);
}

}  // namespace
}  // namespace idlewave
