#include "collectives/algorithm_rules.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "collectives/composition.hpp"
#include "collectives/pattern.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::collectives {
namespace {

AlgorithmRule allreduce(std::uint32_t ranks, std::uint64_t bytes, const std::string& name) {
    return {.collective = Collective::allreduce,
            .ranks = ranks,
            .bytes = bytes,
            .algorithm = &algorithm(Collective::allreduce, name)};
}

std::string chosen(const AlgorithmRules& rules, std::uint32_t ranks, std::uint64_t bytes) {
    const AlgorithmRule* rule = rules.find(Collective::allreduce, ranks, bytes);
    return rule == nullptr ? "none" : std::string(rule->algorithm->name);
}

/// Ops as text, so that a failed comparison shows them.
std::string text(const goal::RankSchedule& schedule) {
    std::string all;
    for (const goal::Op& op : schedule.ops) {
        all += std::to_string(static_cast<int>(op.kind)) + " " + std::to_string(op.size) + " " +
               std::to_string(op.kind == goal::OpKind::calc ? 0 : op.peer) + (op.reduction ? " reduction\n" : "\n");
    }
    for (const goal::Requirement& r : schedule.requirements) {
        all += std::to_string(r.successor) + (r.edge == goal::Edge::end ? " after " : " with ") +
               std::to_string(r.predecessor) + "\n";
    }
    return all;
}

TEST(AlgorithmRules, TheRuleForTheMostRanksAndThenTheMostBytesThatACallHasHolds) {
    const AlgorithmRules rules({allreduce(16, 0, "dissemination"), allreduce(4, 1000, "ring"),
                                allreduce(4, 10, "rabenseifner"), allreduce(16, 5000, "reduce_bcast")});
    EXPECT_EQ(chosen(rules, 4, 10), "rabenseifner");
    EXPECT_EQ(chosen(rules, 15, 999), "rabenseifner");
    EXPECT_EQ(chosen(rules, 15, 1000), "ring");
    EXPECT_EQ(chosen(rules, 16, 4999), "dissemination");
    EXPECT_EQ(chosen(rules, 1'000'000, 5000), "reduce_bcast");
}

TEST(AlgorithmRules, BelowAllRanksAndBytesTheLeastOnesHold) {
    const AlgorithmRules rules({allreduce(4, 10, "ring"), allreduce(4, 1000, "rabenseifner")});
    EXPECT_EQ(chosen(rules, 2, 0), "ring");
    EXPECT_EQ(chosen(rules, 3, 1000), "rabenseifner");
    EXPECT_EQ(rules.find(Collective::bcast, 4, 10), nullptr);
    EXPECT_EQ(chosen(AlgorithmRules{}, 4, 10), "none");
}

TEST(AlgorithmRules, BytesOfAllRanksAreThoseOfTheCallTimesTheRanks) {
    AlgorithmRule small = allreduce(2, 0, "rabenseifner");
    AlgorithmRule large = allreduce(2, 4096, "ring");
    small.of_all_ranks = large.of_all_ranks = true;
    const AlgorithmRules rules({small, large});
    EXPECT_EQ(chosen(rules, 16, 255), "rabenseifner");
    EXPECT_EQ(chosen(rules, 16, 256), "ring");
    EXPECT_EQ(chosen(rules, 48, 85), "rabenseifner");  // 4080 bytes
    EXPECT_EQ(chosen(rules, 48, 86), "ring");
    EXPECT_EQ(chosen(rules, 4'000'000'000, 1), "ring");
    EXPECT_EQ(chosen(rules, 2, std::uint64_t{1} << 63), "ring") << "and no product overflows";
    small.of_all_ranks = false;
    EXPECT_THROW(AlgorithmRules({small, large}), InputError);
}

TEST(AlgorithmRules, AFallbackHoldsWhereTheOthersChooseNothing) {
    AlgorithmRule open = allreduce(4, 100, "ring");
    open.algorithm = nullptr;
    AlgorithmRule fallback = allreduce(1, 0, "dissemination");
    AlgorithmRule many = allreduce(8, 0, "reduce_bcast");
    fallback.fallback = many.fallback = true;
    const AlgorithmRules rules({allreduce(4, 0, "rabenseifner"), open, fallback, many});
    EXPECT_EQ(chosen(rules, 4, 99), "rabenseifner");
    EXPECT_EQ(chosen(rules, 4, 100), "dissemination");
    EXPECT_EQ(chosen(rules, 9, 100), "reduce_bcast");
    EXPECT_EQ(chosen(AlgorithmRules({fallback}), 9, 100), "dissemination");
    EXPECT_THROW(AlgorithmRules({open}), InputError);
}

TEST(AlgorithmRules, OfAnotherCollectivesAlgorithmAndTwoForTheSameAreRefused) {
    AlgorithmRule wrong = allreduce(1, 0, "ring");
    wrong.collective = Collective::bcast;
    EXPECT_THROW(AlgorithmRules({wrong}), InputError);
    EXPECT_THROW(AlgorithmRules({allreduce(2, 8, "ring"), allreduce(2, 8, "dissemination")}), InputError);
    AlgorithmRule negative = allreduce(1, 0, "ring");
    negative.call_ns = -1;
    EXPECT_THROW(AlgorithmRules({negative}), InputError);
}

/// All ops of a job that does a collective once, without the algorithm named in the call.
goal::RankSchedule schedule_of(const Stage& stage, std::uint32_t ranks, std::uint32_t rank) {
    return all_ranks(ranks, {stage}).rank_schedule(rank);
}

TEST(AlgorithmRules, ACallThatCostsNothingBesideItsMessagesIsThatOfTheAlgorithm) {
    for (const Algorithm& each : algorithms()) {
        const AlgorithmRules rules(
            {{.collective = each.collective, .algorithm = &each, .segment = 100, .reduction_cost = 0.5}});
        const std::string collective(name_of(each.collective));
        const PatternCall plain{.bytes = 1000};
        PatternCall named = plain;
        named.segment = 100;
        named.reduction_cost = 0.5;
        for (std::uint32_t rank = 0; rank < 6; ++rank) {
            EXPECT_EQ(text(schedule_of(stage_of(collective, "", 6, plain, rules), 6, rank)),
                      text(schedule_of(stage_of(collective, each.name, 6, named), 6, rank)))
                << collective << " " << each.name;
        }
    }
}

TEST(AlgorithmRules, TheCallsOwnTimeIsAComputationBeforeItsFirstMessage) {
    for (const Algorithm& each : algorithms()) {
        const AlgorithmRules rules(
            {{.collective = each.collective, .algorithm = &each, .call_ns = 40, .call_ns_per_byte = 0.25}});
        const std::string collective(name_of(each.collective));
        PatternCall compute;
        compute.shape.compute_ns = 290;  // 40 + 1000 / 4
        const Stage before = stage_of("compute", "", 5, compute);
        const Stage named = stage_of(collective, each.name, 5, {.bytes = 1000});
        for (std::uint32_t rank = 0; rank < 5; ++rank) {
            EXPECT_EQ(text(schedule_of(stage_of(collective, "", 5, {.bytes = 1000}, rules), 5, rank)),
                      text(all_ranks(5, {before, named}).rank_schedule(rank)))
                << collective << " " << each.name;
        }
    }
}

TEST(AlgorithmRules, ANamedAlgorithmAndUnequalCountsAreNotChosenByRules) {
    const AlgorithmRules rules(
        {{.collective = Collective::allgather, .algorithm = &algorithm(Collective::allgather, "bruck"), .call_ns = 7}});
    const PatternCall equal{.bytes = 8};
    PatternCall unequal = equal;
    unequal.recv_counts = {1, 2, 3};
    const auto ops = [](const Stage& stage) { return text(schedule_of(stage, 3, 0)); };
    EXPECT_EQ(ops(stage_of("allgather", "ring", 3, equal, rules)), ops(stage_of("allgather", "ring", 3, equal)));
    EXPECT_EQ(ops(stage_of("allgather", "", 3, unequal, rules)), ops(stage_of("allgather", "", 3, unequal)));
    EXPECT_NE(ops(stage_of("allgather", "", 3, equal, rules)), ops(stage_of("allgather", "bruck", 3, equal)));
}

}  // namespace
}  // namespace idlewave::collectives
