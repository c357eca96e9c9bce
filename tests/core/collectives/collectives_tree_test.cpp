#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "collective_run.hpp"

/// Broadcasts and reductions.
namespace idlewave::collectives {
namespace {

using namespace testing;

constexpr std::uint64_t tree_sizes[] = {0, 1, 5, 64, 1000};

std::vector<Item> whole_vector(std::uint32_t root, std::uint64_t bytes) {
    return {{root, bytes, by_all}};
}

class UnsegmentedBroadcast : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Collectives, UnsegmentedBroadcast, ::testing::Values("binomial", "linear", "binary", "chain"));

TEST_P(UnsegmentedBroadcast, BringsTheVectorToEveryRankInOneMessageEach) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t root : roots_of(P)) {
            for (const std::uint64_t bytes : tree_sizes) {
                const CollectiveRun run(algorithm(Collective::bcast, GetParam()).step, P, calls(P, root, bytes));
                ASSERT_EQ(run.messages().size(), P - 1);
                ASSERT_EQ(spread(run.messages(), P, whole_vector(root, bytes), true), "") << P << " ranks, " << root;
            }
        }
    }
}

/// Whether each rank sends of the vector to each other no more than had come to it by then; the root has it all.
void expect_streams(const CollectiveRun& run, std::uint32_t ranks, std::uint32_t root, std::uint64_t bytes) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
        ASSERT_EQ(run.received_by(r), r == root ? 0 : bytes);
        std::map<std::uint32_t, std::uint64_t> sent_to;
        for (const Sent& out : run.messages()) {
            if (out.from != r) {
                continue;
            }
            sent_to[out.to] += out.bytes;
            std::uint64_t come = r == root ? bytes : 0;
            for (const Sent& in : run.messages()) {
                come += in.to == r && in.got_at < out.sent_at ? in.bytes : 0;
            }
            ASSERT_LE(sent_to[out.to], come) << "rank " << r << " passes on what it does not have";
        }
    }
}

class SegmentedBroadcast : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Collectives, SegmentedBroadcast, ::testing::Values("binary", "chain"));

CallOf segmented(std::uint32_t ranks, std::uint32_t root, std::uint64_t bytes, std::uint64_t segment) {
    return [=](std::uint32_t rank) {
        CollectiveCall call = call_of(rank, ranks, root, bytes);
        call.segment = segment;
        return call;
    };
}

std::uint64_t segments_of(std::uint64_t bytes, std::uint64_t segment) {
    return segment == 0 || bytes == 0 ? 1 : (bytes + segment - 1) / segment;
}

TEST_P(SegmentedBroadcast, PassesSegmentsOnAsTheyCome) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t root : roots_of(P)) {
            for (const std::uint64_t segment : {0, 1, 7, 1000}) {
                for (const std::uint64_t bytes : {0, 1, 30}) {
                    const CollectiveRun run(algorithm(Collective::bcast, GetParam()).step, P,
                                            segmented(P, root, bytes, segment));
                    ASSERT_EQ(run.messages().size(), (P - 1) * segments_of(bytes, segment));
                    expect_streams(run, P, root, bytes);
                }
            }
        }
    }
}

TEST_P(SegmentedBroadcast, KeepsItsStepNumbersSmallForAnyVector) {
    const StepFunction step = algorithm(Collective::bcast, GetParam()).step;
    CollectiveCall call = call_of(1, 3, 0, std::uint64_t{1} << 50);
    call.segment = 1;
    EXPECT_EQ(step(call, steps::second_begins).kind, Step::Kind::done);
}

TEST(Broadcast, TheChainOverlapsItsSegmentsWhichALastRankSeesInOrder) {
    constexpr std::uint32_t P = 4;
    const CollectiveRun run(algorithm(Collective::bcast, "chain").step, P, segmented(P, 1, 100, 30));
    std::vector<std::uint64_t> seen;
    for (const Sent& m : run.messages()) {
        EXPECT_EQ(m.to, (m.from + 1) % P);
        if (m.to == 0) {
            seen.push_back(m.bytes);
        }
    }
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{30, 30, 30, 10}));
}

TEST(Broadcast, VanDeGeijnsScattersPartsAndThenPassesThemAroundTheRing) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t root : roots_of(P)) {
            for (const std::uint64_t bytes : tree_sizes) {
                const CollectiveRun run(algorithm(Collective::bcast, "scatter_allgather").step, P,
                                        calls(P, root, bytes));
                std::vector<Item> scattered;
                std::vector<Item> gathered;
                for (std::uint32_t v = 0; v < P; ++v) {
                    const std::uint32_t rank = (v + root) % P;
                    const std::uint64_t part = part_of(bytes, P, v);
                    scattered.push_back({root, part, [rank](std::uint32_t r) { return r == rank; }});
                    gathered.push_back({rank, part, by_all});
                }
                const auto first = between(run.messages(), 0, steps::second_begins);
                const auto second = between(run.messages(), steps::second_begins, ~StepNumber{0});
                ASSERT_EQ(first.size(), P - 1);
                ASSERT_EQ(second.size(), P * (P - 1));
                ASSERT_EQ(spread(first, P, scattered, true), "") << P << " ranks, root " << root;
                ASSERT_EQ(spread(second, P, gathered, true), "") << P << " ranks, root " << root;
            }
        }
    }
}

class UnsegmentedReduction : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Collectives, UnsegmentedReduction, ::testing::Values("binomial", "linear", "pipelined"));

TEST_P(UnsegmentedReduction, TakesEveryContributionOnce) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t root : roots_of(P)) {
            for (const std::uint64_t bytes : tree_sizes) {
                const CollectiveRun run(algorithm(Collective::reduce, GetParam()).step, P, calls(P, root, bytes));
                ASSERT_EQ(run.messages().size(), P - 1);
                ASSERT_EQ(add_up(run.messages(), P, whole_vector(root, bytes), true), "") << P << " ranks, " << root;
            }
        }
    }
}

TEST_P(UnsegmentedReduction, ComputesForEveryByteThatComes) {
    for (const std::uint32_t P : rank_counts) {
        const CollectiveRun run(algorithm(Collective::reduce, GetParam()).step, P, calls(P, P / 2, 1000));
        for (std::uint32_t r = 0; r < P; ++r) {
            ASSERT_EQ(run.computed(r), run.received_by(r));
        }
    }
}

TEST(Reduction, ThePipelinedOnePassesASegmentOnWhenItHasCome) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t root : roots_of(P)) {
            for (const std::uint64_t segment : {0, 1, 7}) {
                for (const std::uint64_t bytes : {0, 1, 30}) {
                    const CollectiveRun run(algorithm(Collective::reduce, "pipelined").step, P,
                                            segmented(P, root, bytes, segment));
                    const std::uint32_t last = (root + P - 1) % P;
                    ASSERT_EQ(run.messages().size(), (P - 1) * segments_of(bytes, segment));
                    expect_streams(run, P, last, bytes);
                    for (std::uint32_t r = 0; r < P; ++r) {
                        ASSERT_EQ(run.sent_by(r), r == root ? 0 : bytes);
                        ASSERT_EQ(run.computed(r), r == last ? 0 : bytes);
                    }
                }
            }
        }
    }
}

TEST(Reduction, RabenseifnersAddsEveryContributionOnceToAPieceAtEachRankAndGathersThePieces) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t root : roots_of(P)) {
            for (const std::uint64_t bytes : tree_sizes) {
                const std::uint32_t rounds = log2_down(P);
                const std::uint32_t surplus = P - (1U << rounds);
                const auto rank_of = [&](std::uint32_t n) { return ((n < surplus ? 2 * n : n + surplus) + root) % P; };
                const CollectiveRun run(algorithm(Collective::reduce, "rabenseifner").step, P, calls(P, root, bytes));
                std::vector<Item> items = pieces(bytes, rounds, rank_of);
                const StepNumber middle = 3 + 4 * rounds;
                const auto halving = between(run.messages(), 0, middle);
                const auto gather = between(run.messages(), middle, 1000);
                ASSERT_EQ(halving.size(), surplus + rounds * (1U << rounds));
                ASSERT_EQ(gather.size(), (1U << rounds) - 1);
                ASSERT_EQ(add_up(halving, P, items, true), "") << P << " ranks, root " << root << ", " << bytes;
                for (Item& item : items) {
                    item.wanted = [root](std::uint32_t r) { return r == root; };
                }
                ASSERT_EQ(spread(gather, P, items, true), "") << P << " ranks, root " << root << ", " << bytes;
            }
        }
    }
}

TEST(Reduction, RabenseifnersSendsAndReducesAtEachRankTheVectorLessOnePieceAndThenGathersInHalves) {
    for (const std::uint32_t P : {2U, 4U, 8U, 32U, 64U}) {
        constexpr std::uint64_t bytes = 6400;
        const CollectiveRun run(algorithm(Collective::reduce, "rabenseifner").step, P, calls(P, 1, bytes));
        for (std::uint32_t r = 0; r < P; ++r) {
            ASSERT_EQ(run.computed(r), bytes - bytes / P);
        }
        // Every one of log2 P rounds of the gather moves half of the vector.
        ASSERT_EQ(run.bytes(), P * (bytes - bytes / P) + log2_up(P) * bytes / 2);
    }
}

}  // namespace
}  // namespace idlewave::collectives
