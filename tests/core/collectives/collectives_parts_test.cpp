#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "collective_run.hpp"

/// Operations that move parts: gather, scatter, allgather, alltoall, reduce-scatter, and their v-variants.
namespace idlewave::collectives {
namespace {

using namespace testing;

/// Parts of different sizes, some of them empty.
std::vector<std::uint64_t> uneven(std::uint32_t count) {
    std::vector<std::uint64_t> counts;
    for (std::uint32_t i = 0; i < count; ++i) {
        counts.push_back(i * 7 % 5 * (10 + i));
    }
    return counts;
}

std::uint64_t sum(const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<Item> own_parts(const std::vector<std::uint64_t>& counts) {
    std::vector<Item> items;
    for (std::uint32_t r = 0; r < counts.size(); ++r) {
        items.push_back({r, counts[r], by_all});
    }
    return items;
}

class RootedParts : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Collectives, RootedParts, ::testing::ValuesIn(names_of_all(Collective::gather)));

TEST_P(RootedParts, GatherBringsEveryPartToTheRoot) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t root : roots_of(P)) {
            for (const std::uint64_t bytes : {0, 1, 100}) {
                const CollectiveRun run(algorithm(Collective::gather, GetParam()).step, P, calls(P, root, bytes));
                std::vector<Item> items = own_parts(std::vector<std::uint64_t>(P, bytes));
                for (Item& item : items) {
                    item.wanted = [root](std::uint32_t r) { return r == root; };
                }
                ASSERT_EQ(spread(run.messages(), P, items, true), "") << P << " ranks, root " << root;
                ASSERT_EQ(run.messages().size(), P - 1);
            }
        }
    }
}

TEST_P(RootedParts, ScatterBringsEveryRankItsPart) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t root : roots_of(P)) {
            for (const std::uint64_t bytes : {0, 1, 100}) {
                const CollectiveRun run(algorithm(Collective::scatter, GetParam()).step, P, calls(P, root, bytes));
                std::vector<Item> items;
                for (std::uint32_t to = 0; to < P; ++to) {
                    items.push_back({root, bytes, [to](std::uint32_t r) { return r == to; }});
                }
                ASSERT_EQ(spread(run.messages(), P, items, true), "") << P << " ranks, root " << root;
                ASSERT_EQ(run.messages().size(), P - 1);
            }
        }
    }
}

TEST(GatherAndScatter, BinomialOnesCarryUnevenPartsWhereEveryRankKnowsTheSizes) {
    for (const std::uint32_t P : rank_counts) {
        const auto counts = uneven(P);
        for (const std::uint32_t root : roots_of(P)) {
            const auto call = [&](std::uint32_t rank) {
                CollectiveCall c = call_of(rank, P, root, 0);
                c.recv_counts = counts;
                c.send_counts = counts;
                return c;
            };
            std::vector<Item> up = own_parts(counts);
            std::vector<Item> down = own_parts(counts);
            for (std::uint32_t i = 0; i < P; ++i) {
                up[i].wanted = [root](std::uint32_t r) { return r == root; };
                down[i].owner = root;
                down[i].wanted = [i](std::uint32_t r) { return r == i; };
            }
            const CollectiveRun gather(algorithm(Collective::gather, "binomial").step, P, call);
            const CollectiveRun scatter(algorithm(Collective::scatter, "binomial").step, P, call);
            ASSERT_EQ(gather.wrong() + scatter.wrong(), "");
            ASSERT_EQ(spread(gather.messages(), P, up, true), "") << P << " ranks, root " << root;
            ASSERT_EQ(spread(scatter.messages(), P, down, true), "") << P << " ranks, root " << root;
        }
    }
}

TEST(GatherAndScatter, LinearOnesNeedTheSizesAtTheRootAlone) {
    constexpr std::uint32_t P = 7;
    const auto counts = uneven(P);
    for (const std::uint32_t root : roots_of(P)) {
        const auto call = [&](std::uint32_t rank) {
            CollectiveCall c = call_of(rank, P, root, counts[rank]);
            if (rank == root) {
                c.recv_counts = counts;
                c.send_counts = counts;
            }
            return c;
        };
        for (const Collective which : {Collective::gather, Collective::scatter}) {
            const CollectiveRun run(algorithm(which, "linear").step, P, call);
            EXPECT_EQ(run.wrong(), "");
            EXPECT_EQ(run.bytes(), sum(counts) - counts[root]);
        }
    }
}

class Allgather : public ::testing::TestWithParam<std::string> {
  protected:
    /// Who stood aside where the ranks are no power of two is sent its own part again.
    [[nodiscard]] static bool sends_each_part_once(std::uint32_t ranks) {
        return std::string(GetParam()) != "recursive_doubling" || std::has_single_bit(ranks);
    }
};
INSTANTIATE_TEST_SUITE_P(Collectives, Allgather, ::testing::ValuesIn(names_of_all(Collective::allgather)));

TEST_P(Allgather, BringsEveryPartToEveryRank) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint64_t bytes : {0, 1, 100}) {
            const CollectiveRun run(algorithm(Collective::allgather, GetParam()).step, P, calls(P, 0, bytes));
            const auto items = own_parts(std::vector<std::uint64_t>(P, bytes));
            ASSERT_EQ(spread(run.messages(), P, items, sends_each_part_once(P)), "") << P << " ranks, " << bytes;
        }
    }
}

TEST_P(Allgather, BringsUnevenPartsToEveryRank) {
    for (const std::uint32_t P : rank_counts) {
        const auto counts = uneven(P);
        const auto call = [&](std::uint32_t rank) {
            CollectiveCall c = call_of(rank, P, 0, counts[rank]);
            c.recv_counts = counts;
            return c;
        };
        for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous}) {
            const CollectiveRun run(algorithm(Collective::allgather, GetParam()).step, P, call, protocol);
            ASSERT_EQ(run.wrong(), "") << P << " ranks";
            ASSERT_EQ(spread(run.messages(), P, own_parts(counts), sends_each_part_once(P)), "") << P << " ranks";
        }
    }
}

TEST_P(Allgather, RepeatsItsSizesOverMoreRanksThanThereAreSizes) {
    const std::vector<std::uint64_t> counts{3, 0, 11, 5};
    constexpr std::uint32_t P = 20;
    std::vector<std::uint64_t> all;
    for (std::uint32_t r = 0; r < P; ++r) {
        all.push_back(counts[r % counts.size()]);
    }
    const auto call = [&](std::uint32_t rank) {
        CollectiveCall c = call_of(rank, P, 0, 0);
        c.recv_counts = counts;
        return c;
    };
    const CollectiveRun run(algorithm(Collective::allgather, GetParam()).step, P, call);
    EXPECT_EQ(run.wrong(), "");
    EXPECT_EQ(spread(run.messages(), P, own_parts(all), sends_each_part_once(P)), "");
}

TEST(AllgatherMessages, AreAsManyAsPublished) {
    const auto messages = [](const char* name, std::uint32_t P) {
        return CollectiveRun(algorithm(Collective::allgather, name).step, P, calls(P, 0, 1)).messages().size();
    };
    for (const std::uint32_t P : rank_counts) {
        const std::uint32_t rounds = log2_down(P);
        const std::uint32_t active = 1U << rounds;
        EXPECT_EQ(messages("ring", P), P * (P - 1));
        EXPECT_EQ(messages("bruck", P), P * log2_up(P));
        EXPECT_EQ(messages("neighbour_exchange", P), P % 2 == 0 ? P * P / 2 : P * (P - 1));
        EXPECT_EQ(messages("recursive_doubling", P), active * rounds + 2 * (P - active));
    }
}

TEST(AllgatherMessages, OfRecursiveDoublingAreOnePartAndAllPartsMoreForWhoStandsAside) {
    for (const std::uint32_t P : rank_counts) {
        const CollectiveRun run(algorithm(Collective::allgather, "recursive_doubling").step, P, calls(P, 0, 10));
        const std::uint32_t aside = P - (1U << log2_down(P));
        EXPECT_EQ(run.bytes(), 10 * std::uint64_t{P} * (P - aside - 1) + 10 * aside * (1 + P));
    }
}

class DirectAlltoall : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Collectives, DirectAlltoall, ::testing::Values("linear", "pairwise"));

TEST_P(DirectAlltoall, SendsEveryOtherRankOneMessageOfWhatTheCountsSay) {
    const auto bytes = [](std::uint32_t from, std::uint32_t to) { return std::uint64_t{10 * from + to} % 7 * 3; };
    for (const std::uint32_t P : rank_counts) {
        std::vector<std::vector<std::uint64_t>> to(P);
        std::vector<std::vector<std::uint64_t>> from(P);
        for (std::uint32_t r = 0; r < P; ++r) {
            for (std::uint32_t peer = 0; peer < P; ++peer) {
                to[r].push_back(bytes(r, peer));
                from[r].push_back(bytes(peer, r));
            }
        }
        const auto call = [&](std::uint32_t rank) {
            CollectiveCall c = call_of(rank, P, 0, 0);
            c.send_counts = to[rank];
            c.recv_counts = from[rank];
            return c;
        };
        const CollectiveRun run(algorithm(Collective::alltoall, GetParam()).step, P, call);
        ASSERT_EQ(run.wrong(), "") << P << " ranks";
        std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
        for (const Sent& m : run.messages()) {
            ASSERT_EQ(m.bytes, bytes(m.from, m.to));
            pairs.emplace(m.from, m.to);
        }
        ASSERT_EQ(pairs.size(), P * (P - 1));
        ASSERT_EQ(run.messages().size(), P * (P - 1));
    }
}

TEST_P(DirectAlltoall, SendsEqualPartsWithoutCounts) {
    for (const std::uint32_t P : rank_counts) {
        const CollectiveRun run(algorithm(Collective::alltoall, GetParam()).step, P, calls(P, 0, 10));
        ASSERT_EQ(run.bytes(), 10 * std::uint64_t{P} * (P - 1));
    }
}

TEST(BruckAlltoall, BringsEveryPartToItsRankInLog2Rounds) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint64_t bytes : {0, 10}) {
            const CollectiveRun run(algorithm(Collective::alltoall, "bruck").step, P, calls(P, 0, bytes));
            std::vector<Item> items;
            for (std::uint32_t from = 0; from < P; ++from) {
                for (std::uint32_t to = 0; to < P; ++to) {
                    items.push_back({from, bytes, [to](std::uint32_t r) { return r == to; }});
                }
            }
            ASSERT_EQ(spread(run.messages(), P, items, true), "") << P << " ranks";
            ASSERT_EQ(run.messages().size(), P * log2_up(P));
        }
    }
}

TEST(BruckAlltoall, SendsHalfOfAllPartsInEachRoundOnAPowerOfTwo) {
    for (const std::uint32_t P : {2U, 8U, 64U}) {
        const CollectiveRun run(algorithm(Collective::alltoall, "bruck").step, P, calls(P, 0, 10));
        EXPECT_EQ(run.bytes(), 10 * std::uint64_t{P} * P / 2 * log2_up(P));
    }
}

class ReduceScatter : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Collectives, ReduceScatter, ::testing::Values("ring", "halving", "pairwise"));

/// Ranks that stand aside send their whole vector, of which their own part comes back.
bool is_folded(const std::string& name, std::uint32_t ranks) {
    return name == "halving" && !std::has_single_bit(ranks);
}

TEST_P(ReduceScatter, AddsUpEveryPartAtItsRank) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint64_t bytes : {0, 1, 100, 1000}) {
            const CollectiveRun run(algorithm(Collective::reduce_scatter, GetParam()).step, P, calls(P, 0, bytes));
            const auto items = parts_owned(bytes, P, [](std::uint32_t i) { return i; });
            const bool direct = std::string(GetParam()) == "pairwise";
            for (const Sent& m : run.messages()) {
                ASSERT_TRUE(!direct || m.bytes == part_of(bytes, P, m.to));
            }
            if (!direct) {
                ASSERT_EQ(add_up(run.messages(), P, items, !is_folded(GetParam(), P)), "") << P << " ranks, " << bytes;
            }
            const std::uint32_t aside = is_folded(GetParam(), P) ? P - (1U << log2_down(P)) : 0;
            std::uint64_t returned = 0;
            for (std::uint32_t i = 0; i < aside; ++i) {
                returned += part_of(bytes, P, 2 * i);
            }
            ASSERT_EQ(run.bytes(), (P - aside - 1) * bytes + aside * bytes + returned);
        }
    }
}

TEST_P(ReduceScatter, AddsUpUnevenPartsAtTheirRanks) {
    for (const std::uint32_t P : rank_counts) {
        const auto counts = uneven(P);
        const auto call = [&](std::uint32_t rank) {
            CollectiveCall c = call_of(rank, P, 0, sum(counts));
            c.recv_counts = counts;
            return c;
        };
        const CollectiveRun run(algorithm(Collective::reduce_scatter, GetParam()).step, P, call);
        ASSERT_EQ(run.wrong(), "") << P << " ranks";
        if (std::string(GetParam()) != "pairwise") {
            ASSERT_EQ(add_up(run.messages(), P, own_parts(counts), !is_folded(GetParam(), P)), "") << P << " ranks";
        }
        for (std::uint32_t r = 0; r < P && !is_folded(GetParam(), P); ++r) {
            ASSERT_EQ(run.computed(r), run.received_by(r)) << "what comes is added";
        }
    }
}

TEST(ReduceScatterMessages, ArePairwiseOneFromEachRankToEachOther) {
    for (const std::uint32_t P : rank_counts) {
        const CollectiveRun run(algorithm(Collective::reduce_scatter, "pairwise").step, P, calls(P, 0, 1000));
        std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
        for (const Sent& m : run.messages()) {
            pairs.emplace(m.from, m.to);
        }
        ASSERT_EQ(pairs.size(), P * (P - 1));
    }
}

TEST(ReduceScatterMessages, OfHalvingAreLog2PerRankAndTwoForWhoStandsAside) {
    for (const std::uint32_t P : rank_counts) {
        const CollectiveRun run(algorithm(Collective::reduce_scatter, "halving").step, P, calls(P, 0, 1000));
        const std::uint32_t active = 1U << log2_down(P);
        EXPECT_EQ(run.messages().size(), active * log2_down(P) + 2 * (P - active));
    }
}

}  // namespace
}  // namespace idlewave::collectives
