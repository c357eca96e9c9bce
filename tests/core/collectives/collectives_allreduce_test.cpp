#include <gtest/gtest.h>

#include <vector>

#include "collective_run.hpp"

/// Allreduce, and prefix reductions.
namespace idlewave::collectives {
namespace {

using namespace testing;

constexpr std::uint64_t sizes[] = {0, 1, 5, 64, 1000};

/// How often each rank's contribution is in a sum.
using Sum = std::vector<std::uint32_t>;

/// What ranks have when every message brings its sender's sum, and the receiver adds it to its own. `lower` is what
/// came from ranks lower than the receiver: the result of a scan.
struct Sums {
    std::vector<Sum> all;
    std::vector<Sum> lower;
};

Sums sums_of(const std::vector<Sent>& messages, std::uint32_t ranks) {
    Sums sums{std::vector<Sum>(ranks, Sum(ranks)), std::vector<Sum>(ranks, Sum(ranks))};
    struct Event {
        std::int64_t at;
        std::size_t message;
        bool got;
    };
    std::vector<Event> events;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        events.push_back({messages[i].sent_at, i, false});
        events.push_back({messages[i].got_at, i, true});
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.at < b.at; });
    for (std::uint32_t r = 0; r < ranks; ++r) {
        sums.all[r][r] = 1;
    }
    std::vector<Sum> brought(messages.size());
    for (const Event& event : events) {
        const Sent& m = messages[event.message];
        if (!event.got) {
            brought[event.message] = sums.all[m.from];
            continue;
        }
        for (std::uint32_t of = 0; of < ranks; ++of) {
            sums.all[m.to][of] += brought[event.message][of];
            sums.lower[m.to][of] += m.from < m.to ? brought[event.message][of] : 0;
        }
    }
    return sums;
}

TEST(Allreduce, RecursiveDoublingHasEveryContributionOnceAtEveryRank) {
    for (const std::uint32_t P : rank_counts) {
        const CollectiveRun run(algorithm(Collective::allreduce, "recursive_doubling").step, P, calls(P, 0, 10));
        const std::uint32_t rounds = log2_down(P);
        const std::uint32_t surplus = P - (1U << rounds);
        const Sums sums = sums_of(between(run.messages(), 0, 3 + 3 * rounds), P);
        for (std::uint32_t r = 0; r < P; ++r) {
            const bool aside = r < 2 * surplus && r % 2 == 0;
            for (std::uint32_t of = 0; of < P && !aside; ++of) {
                ASSERT_EQ(sums.all[r][of], 1U) << P << " ranks: rank " << r << ", contribution of " << of;
            }
        }
        ASSERT_EQ(run.messages().size(), 2 * surplus + rounds * (1U << rounds));
        ASSERT_EQ(run.bytes(), 10 * run.messages().size()) << "always the whole vector";
        const auto told = between(run.messages(), 3 + 3 * rounds, 1000);
        ASSERT_EQ(told.size(), surplus);
        for (const Sent& m : told) {
            ASSERT_TRUE(m.to % 2 == 0 && m.from == m.to + 1 && m.from < 2 * surplus);
        }
    }
}

TEST(Allreduce, RecursiveDoublingReducesInEveryRound) {
    const CollectiveRun run(algorithm(Collective::allreduce, "recursive_doubling").step, 7, calls(7, 0, 10));
    for (const std::uint32_t aside : {0U, 2U, 4U}) {
        EXPECT_EQ(run.computed(aside), 0);
        EXPECT_EQ(run.computed(aside + 1), 30) << "its neighbour's vector, and two rounds";
    }
    EXPECT_EQ(run.computed(6), 20);
}

TEST(Allreduce, TheRingAddsUpOnePartAtEachRankAndPassesItAround) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint64_t bytes : sizes) {
            const CollectiveRun run(algorithm(Collective::allreduce, "ring").step, P, calls(P, 0, bytes));
            const auto items = parts_owned(bytes, P, [P](std::uint32_t i) { return (i + P - 1) % P; });
            const StepNumber middle = 4 * (P - 1);
            ASSERT_EQ(add_up(between(run.messages(), 0, middle), P, items, true), "") << P << " ranks, " << bytes;
            ASSERT_EQ(spread(between(run.messages(), middle, 1000), P, items, true), "") << P << " ranks, " << bytes;
            ASSERT_EQ(run.messages().size(), 2 * P * (P - 1));
            ASSERT_EQ(run.bytes(), 2 * (P - 1) * bytes) << "twice the vector less one part at each rank";
        }
    }
}

TEST(Allreduce, RabenseifnersAddsUpOnePieceAtEachRankAndSpreadsIt) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint64_t bytes : sizes) {
            const std::uint32_t rounds = log2_down(P);
            const std::uint32_t surplus = P - (1U << rounds);
            const auto rank_of = [surplus](std::uint32_t n) { return n < surplus ? 2 * n + 1 : n + surplus; };
            const CollectiveRun run(algorithm(Collective::allreduce, "rabenseifner").step, P, calls(P, 0, bytes));
            const auto items = pieces(bytes, rounds, rank_of);
            const StepNumber middle = 3 + 4 * rounds;
            ASSERT_EQ(add_up(between(run.messages(), 0, middle), P, items, true), "") << P << " ranks, " << bytes;
            ASSERT_EQ(spread(between(run.messages(), middle, 1000), P, items, true), "") << P << " ranks, " << bytes;
            // Thakur, Rabenseifner, Gropp 2005: 2 log2 P messages of 2 (P - 1)/P vectors, and two to fold.
            ASSERT_EQ(run.messages().size(), 2 * surplus + 2 * rounds * (1U << rounds));
            ASSERT_EQ(run.bytes(), 2 * surplus * bytes + 2 * ((1U << rounds) - 1) * bytes);
        }
    }
}

TEST(Allreduce, ReductionAndBroadcastAreThoseOfATreeOneAfterTheOther) {
    for (const std::uint32_t P : rank_counts) {
        const CollectiveRun run(algorithm(Collective::allreduce, "reduce_bcast").step, P, calls(P, 0, 10));
        const std::vector<Item> vector{{0, 10, by_all}};
        ASSERT_EQ(add_up(between(run.messages(), 0, steps::second_begins), P, vector, true), "");
        ASSERT_EQ(spread(between(run.messages(), steps::second_begins, ~StepNumber{0}), P, vector, true), "");
        ASSERT_EQ(run.messages().size(), 2 * (P - 1));
    }
}

TEST(Allreduce, DisseminationHearsEveryRankAndOnAPowerOfTwoOnce) {
    for (const std::uint32_t P : rank_counts) {
        const CollectiveRun run(algorithm(Collective::allreduce, "dissemination").step, P, calls(P, 0, 10));
        const Sums sums = sums_of(run.messages(), P);
        for (std::uint32_t r = 0; r < P; ++r) {
            for (std::uint32_t of = 0; of < P; ++of) {
                ASSERT_GE(sums.all[r][of], 1U);
                ASSERT_TRUE(!std::has_single_bit(P) || sums.all[r][of] == 1);
            }
            ASSERT_EQ(run.computed(r), 10 * log2_up(P));
        }
        ASSERT_EQ(run.messages().size(), P * log2_up(P));
    }
}

class EveryScan : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Collectives, EveryScan, ::testing::ValuesIn(names_of_all(Collective::scan)));

TEST_P(EveryScan, HearsOfEveryLowerRankOnceAndOfNoHigherOne) {
    for (const Collective which : {Collective::scan, Collective::exscan}) {
        for (const std::uint32_t P : rank_counts) {
            const CollectiveRun run(algorithm(which, GetParam()).step, P, calls(P, 0, 10));
            ASSERT_EQ(run.wrong(), "");
            const Sums sums = sums_of(run.messages(), P);
            for (std::uint32_t r = 0; r < P; ++r) {
                for (std::uint32_t of = 0; of < P; ++of) {
                    ASSERT_EQ(sums.lower[r][of], of < r ? 1U : 0U) << P << " ranks: rank " << r << ", part of " << of;
                }
            }
        }
    }
}

TEST(Scan, RecursiveDoublingExchangesWithEveryPeerThereIs) {
    for (const std::uint32_t P : rank_counts) {
        std::size_t pairs = 0;
        for (std::uint32_t r = 0; r < P; ++r) {
            for (std::uint32_t other = 0; other < P; ++other) {
                pairs += std::has_single_bit(r ^ other) ? 1 : 0;
            }
        }
        for (const Collective which : {Collective::scan, Collective::exscan}) {
            const CollectiveRun run(algorithm(which, "recursive_doubling").step, P, calls(P, 0, 10));
            ASSERT_EQ(run.messages().size(), pairs);
        }
    }
}

TEST(Scan, AddsWhatComesFromLowerRanksTwiceAndAnExclusiveOneOnceLess) {
    const CollectiveRun inclusive(algorithm(Collective::scan, "recursive_doubling").step, 8, calls(8, 0, 10));
    const CollectiveRun exclusive(algorithm(Collective::exscan, "recursive_doubling").step, 8, calls(8, 0, 10));
    for (std::uint32_t r = 0; r < 8; ++r) {
        const auto lower = static_cast<std::uint64_t>(std::popcount(r));
        EXPECT_EQ(inclusive.computed(r), 10 * (3 + lower)) << "three rounds for the group, and for the result";
        EXPECT_EQ(exclusive.computed(r), 10 * (3 + lower - (r == 0 ? 0 : 1)));
    }
}

TEST(Scan, ALinearExclusiveOneAddsNothingAtTheLastRank) {
    const CollectiveRun inclusive(algorithm(Collective::scan, "linear").step, 4, calls(4, 0, 10));
    const CollectiveRun exclusive(algorithm(Collective::exscan, "linear").step, 4, calls(4, 0, 10));
    EXPECT_EQ(inclusive.computed(3), 10);
    EXPECT_EQ(exclusive.computed(3), 0);
    EXPECT_EQ(exclusive.computed(2), 10);
    EXPECT_EQ(inclusive.messages().size(), 3);
}

}  // namespace
}  // namespace idlewave::collectives
