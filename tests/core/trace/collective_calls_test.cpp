#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/algorithm_rules.hpp"
#include "collectives/program.hpp"
#include "converted_trace.hpp"
#include "trace/convert.hpp"

namespace idlewave::trace {
namespace {

using testing::beside;
using testing::no_root;
using testing::not_known;
using testing::pair;
using testing::program_of;
using testing::rank_of_two;
using testing::refusal;
using testing::TraceBytes;
using testing::with_communicator;
using testing::world;

/// The sends and receives of a rank, without tags: "send 8b to 1; recv …".
std::string messages(const collectives::ProgramSource& source, std::uint32_t rank) {
    std::string text;
    for (const goal::Op& op : source.rank_schedule(rank).ops) {
        if (op.kind != goal::OpKind::calc) {
            text += (text.empty() ? "" : "; ") + std::string(op.kind == goal::OpKind::send ? "send " : "recv ") +
                    std::to_string(op.size) + (op.kind == goal::OpKind::send ? " to " : " from ") +
                    std::to_string(op.peer);
        }
    }
    return text;
}

struct CollectiveCase {
    const char* name;
    std::uint16_t number;
    std::vector<std::uint64_t> words[2];  ///< of both ranks, from the root on
    std::uint16_t info[2];
    const char* expected[2];
};

class ConvertCollective : public ::testing::TestWithParam<CollectiveCase> {
  protected:
    /// Two ranks that both make the tested call, blocking or not.
    [[nodiscard]] static std::vector<TraceBytes> files(bool blocking) {
        std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
        for (const std::size_t rank : {0, 1}) {
            const auto& words = GetParam().words[rank];
            const std::size_t count = words.size() + (blocking ? 1 : 2);
            const auto call = std::uint64_t{GetParam().number} + (blocking ? 64 : 128);
            files[rank].append(count | call << 32 | std::uint64_t{GetParam().info[rank]} << 48);
            files[rank].append(2000).append(3000).append(world).append(words[0]);
            if (!blocking) {
                files[rank].append(7);
            }
            for (std::size_t i = 1; i < words.size(); ++i) {
                files[rank].append(words[i]);
            }
            if (!blocking) {
                files[rank].call(Call::wait, 4000, 4000, {7, pair(not_known, not_known), 0});
            }
        }
        return files;
    }
};

constexpr std::uint64_t root1 = pair(1, 0);

INSTANTIATE_TEST_SUITE_P(
    Trace, ConvertCollective,
    ::testing::Values(
        CollectiveCase{"barrier",
                       0,
                       {{no_root, 0, 0}, {no_root, 0, 0}},
                       {0, 0},
                       {"recv 0 from 1; send 0 to 1", "recv 0 from 0; send 0 to 0"}},
        CollectiveCase{"bcast", 1, {{root1, 80, 80}, {root1, 80, 80}}, {0, 0}, {"recv 80 from 1", "send 80 to 0"}},
        CollectiveCase{"reduce", 2, {{root1, 80, 80}, {root1, 80, 80}}, {0, 0}, {"send 80 to 1", "recv 80 from 0"}},
        CollectiveCase{"allreduce",
                       3,
                       {{no_root, 80, 80}, {no_root, 80, 80}},
                       {0, 0},
                       {"recv 80 from 1; send 80 to 1", "recv 80 from 0; send 80 to 0"}},
        CollectiveCase{"gather", 4, {{root1, 40, 0}, {root1, 40, 40}}, {0, 0}, {"send 40 to 1", "recv 40 from 0"}},
        CollectiveCase{
            "gatherv", 5, {{root1, 30, 0}, {root1, 50, 80, 30, 50}}, {0, 1}, {"send 30 to 1", "recv 30 from 0"}},
        CollectiveCase{"scatter", 6, {{root1, 0, 40}, {root1, 40, 40}}, {0, 0}, {"recv 40 from 1", "send 40 to 0"}},
        CollectiveCase{
            "scatterv", 7, {{root1, 0, 30}, {root1, 80, 50, 30, 50}}, {0, 2}, {"recv 30 from 1", "send 30 to 0"}},
        CollectiveCase{"allgather",
                       8,
                       {{no_root, 40, 40}, {no_root, 40, 40}},
                       {0, 0},
                       {"recv 40 from 1; send 40 to 1", "recv 40 from 0; send 40 to 0"}},
        CollectiveCase{"allgatherv",
                       9,
                       {{no_root, 30, 80, 30, 50}, {no_root, 50, 80, 30, 50}},
                       {1, 1},
                       {"recv 50 from 1; send 30 to 1", "recv 30 from 0; send 50 to 0"}},
        CollectiveCase{"alltoall",
                       10,
                       {{no_root, 40, 40}, {no_root, 40, 40}},
                       {0, 0},
                       {"recv 40 from 1; send 40 to 1", "recv 40 from 0; send 40 to 0"}},
        CollectiveCase{"alltoallv",
                       11,
                       {{no_root, 3, 5, 1, 2, 1, 4}, {no_root, 7, 9, 4, 3, 2, 3}},
                       {3, 3},
                       {"recv 4 from 1; send 2 to 1", "recv 2 from 0; send 4 to 0"}},
        CollectiveCase{"alltoallw",
                       12,
                       {{no_root, 3, 5, 1, 2, 1, 4}, {no_root, 7, 9, 4, 3, 2, 3}},
                       {3, 3},
                       {"recv 4 from 1; send 2 to 1", "recv 2 from 0; send 4 to 0"}},
        CollectiveCase{"reduce_scatter",
                       13,
                       {{no_root, 80, 30, 30, 50}, {no_root, 80, 50, 30, 50}},
                       {1, 1},
                       {"recv 30 from 1; send 50 to 1", "recv 50 from 0; send 30 to 0"}},
        CollectiveCase{"reduce_scatter_block",
                       14,
                       {{no_root, 80, 40}, {no_root, 80, 40}},
                       {0, 0},
                       {"recv 40 from 1; send 40 to 1", "recv 40 from 0; send 40 to 0"}},
        CollectiveCase{"scan",
                       15,
                       {{no_root, 80, 80}, {no_root, 80, 80}},
                       {0, 0},
                       {"recv 80 from 1; send 80 to 1", "recv 80 from 0; send 80 to 0"}},
        CollectiveCase{"exscan",
                       16,
                       {{no_root, 80, 80}, {no_root, 80, 80}},
                       {0, 0},
                       {"recv 80 from 1; send 80 to 1", "recv 80 from 0; send 80 to 0"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(ConvertCollective, BecomesTheMessagesOfItsDefaultAlgorithm) {
    for (const bool blocking : {true, false}) {
        const collectives::ProgramSource source = program_of(files(blocking));
        EXPECT_EQ(messages(source, 0), GetParam().expected[0]);
        EXPECT_EQ(messages(source, 1), GetParam().expected[1]);
    }
}

/// Of those whose ranks may have unequal counts only what a rule costs counts, where a rank has a block of its own.
TEST_P(ConvertCollective, FollowsARuleUnlessItsRanksMayHaveUnequalCounts) {
    std::vector<collectives::AlgorithmRule> rules;
    for (const collectives::Algorithm& algorithm : collectives::algorithms()) {
        if (rules.empty() || rules.back().collective != algorithm.collective) {
            rules.push_back({.collective = algorithm.collective, .algorithm = &algorithm, .call_ns = 7});
        }
    }
    const ConvertOptions options{.algorithms = {}, .rules = collectives::AlgorithmRules(rules)};
    const std::string name = GetParam().name;
    const bool unequal = name.ends_with("v") || name.ends_with("w") || name == "reduce_scatter";
    const bool costs = !unequal || name == "allgatherv" || name.starts_with("alltoall");
    const collectives::ProgramSource source = program_of(files(true), options);
    for (const std::uint32_t rank : {0U, 1U}) {
        if (unequal) {
            EXPECT_EQ(messages(source, rank), GetParam().expected[rank]);
        }
        const goal::RankSchedule schedule = source.rank_schedule(rank);
        const auto calls = std::ranges::count_if(
            schedule.ops, [](const goal::Op& op) { return op.kind == goal::OpKind::calc && op.size == 7; });
        EXPECT_EQ(calls, costs ? 1 : 0);
    }
}

TEST(Convert, ACallWithCountsCopiesTheBlockOfItsOwnRank) {
    const collectives::Algorithm& bruck = collectives::algorithm(collectives::Collective::alltoall, "bruck");
    const collectives::AlgorithmRule rule{.collective = collectives::Collective::alltoall,
                                          .ranks = 1,
                                          .bytes = 0,
                                          .algorithm = &bruck,
                                          .segment = collectives::default_segment,
                                          .reduction_cost = 0,
                                          .call_ns = 100,
                                          .call_ns_per_byte = 0.5};
    ConvertOptions options;
    options.rules = collectives::AlgorithmRules({rule});
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[0].call(64 + 11, 1000, 1000, {world, no_root, 50, 60, 20, 30, 20, 40}, 3);
    files[1].call(64 + 11, 1000, 1000, {world, no_root, 120, 110, 40, 80, 30, 80}, 3);
    const auto first_lines = [&options, &files](std::uint32_t rank) {
        const std::string text = goal(files, rank, options);
        return text.substr(0, text.find(" tag"));
    };
    EXPECT_EQ(first_lines(0), "l1: calc 110\nl2: recv 40b from 1");  // a receive first: the default, not bruck
    EXPECT_EQ(first_lines(1), "l1: calc 140\nl2: recv 30b from 0");
}

TEST(Convert, CollectivesTakeTheAlgorithmThatIsChosen) {
    std::vector<TraceBytes> files;
    for (const std::uint32_t rank : {0U, 1U, 2U}) {
        files.push_back(TraceBytes(rank, 3).call(64 + 3, 0, 0, {world, no_root, 90, 90}));
    }
    const ConvertOptions ring{.algorithms = {{collectives::Collective::allreduce, "ring"}}, .reduction_cost = 0};
    EXPECT_EQ(messages(program_of(files, ring), 0),
              "recv 30 from 2; send 30 to 1; recv 30 from 2; send 30 to 1; recv 30 from 2; send 30 to 1; "
              "recv 30 from 2; send 30 to 1");
}

TEST(Convert, RefusesAnAlgorithmThatWouldNeedSizesWhichMpiDoesNotTell) {
    const auto with = [](std::uint16_t call, std::initializer_list<std::uint64_t> words, std::uint16_t info,
                         collectives::Collective collective, const char* name) {
        return refusal(beside(rank_of_two(0).call(call, 1000, 1000, words, info)),
                       {.algorithms = {{collective, name}}, .reduction_cost = 0});
    };
    const std::string place = "rank0: rank 0, call 1 of 1 ";
    EXPECT_EQ(with(64 + 5, {world, pair(0, 0), 50, 80, 30, 50}, 1, collectives::Collective::gather, "binomial"),
              place +
                  "(MPI_Gatherv) has unequal counts, which the algorithm 'linear' supports and "
                  "'binomial' does not");
    EXPECT_EQ(with(64 + 11, {world, no_root, 3, 5, 1, 2, 1, 4}, 3, collectives::Collective::alltoall, "bruck"),
              place +
                  "(MPI_Alltoallv) has unequal counts, which the algorithm 'linear' supports and "
                  "'bruck' does not");
}

TEST(Convert, GivesEveryRankTheSizesOfAnAllgathervWhateverItsAlgorithm) {
    for (const char* name : {"ring", "recursive_doubling", "bruck", "neighbour_exchange"}) {
        std::vector<TraceBytes> files;
        for (const std::uint32_t rank : {0U, 1U}) {
            const std::uint64_t own = rank == 0 ? 30 : 50;
            files.push_back(rank_of_two(rank).call(64 + 9, 1000, 1000, {world, no_root, own, 80, 30, 50}, 1));
        }
        const ConvertOptions options{.algorithms = {{collectives::Collective::allgather, name}}, .reduction_cost = 0};
        EXPECT_EQ(messages(program_of(files, options), 0), "recv 50 from 1; send 30 to 1") << name;
        EXPECT_EQ(messages(program_of(files, options), 1), "recv 30 from 0; send 50 to 0") << name;
    }
}

TEST(Convert, CollectivesOfACommunicatorStayOnIt) {
    auto files = with_communicator();
    for (const std::size_t rank : {0, 2}) {
        files[rank].call(64 + 1, 0, 0, {77, pair(0, 0), 8, 8});
    }
    EXPECT_EQ(messages(program_of(files), 0), "recv 8 from 2");
    EXPECT_EQ(messages(program_of(files), 2), "send 8 to 0");
    EXPECT_EQ(messages(program_of(files), 1), "");
}

TEST(Convert, CollectivesThatFollowEachOtherHaveDifferentTags) {
    std::vector<TraceBytes> files;
    for (const std::uint32_t rank : {0U, 1U}) {
        files.push_back(rank_of_two(rank)
                            .call(64, 1000, 1000, {world, no_root, 0, 0})
                            .call(64, 1000, 1000, {world, no_root, 0, 0}));
    }
    const goal::RankSchedule first = program_of(files).rank_schedule(0);
    const goal::RankSchedule second = program_of(files).rank_schedule(1);
    EXPECT_NE(first.ops.front().tag, first.ops.back().tag);
    EXPECT_EQ(first.ops.front().tag, second.ops.front().tag);
    EXPECT_EQ(first.ops.back().tag, second.ops.back().tag);
}

}  // namespace
}  // namespace idlewave::trace
