#include "collectives/patterns.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.hpp"
#include "collective_run.hpp"
#include "collectives/grid.hpp"

namespace idlewave::collectives {
namespace {

using namespace testing;

CallOf shaped(std::uint32_t ranks, std::uint64_t bytes, const GridShape& shape) {
    return [ranks, bytes, &shape](std::uint32_t rank) {
        CollectiveCall call = call_of(rank, ranks, 0, bytes);
        call.shape = &shape;
        return call;
    };
}

Dims at(std::uint32_t rank, const Dims& dims) {
    return {rank / (dims[1] * dims[2]), rank / dims[2] % dims[1], rank % dims[2]};
}

TEST(Dims, AreAsNearToEachOtherAsTheRanksAllow) {
    EXPECT_EQ(fitting_dims(1, 3), (Dims{1, 1, 1}));
    EXPECT_EQ(fitting_dims(12, 1), (Dims{12, 1, 1}));
    EXPECT_EQ(fitting_dims(12, 2), (Dims{4, 3, 1}));
    EXPECT_EQ(fitting_dims(16, 2), (Dims{4, 4, 1}));
    EXPECT_EQ(fitting_dims(13, 2), (Dims{13, 1, 1}));
    EXPECT_EQ(fitting_dims(64, 3), (Dims{4, 4, 4}));
    EXPECT_EQ(fitting_dims(72, 3), (Dims{6, 4, 3}));
    EXPECT_EQ(fitting_dims(97, 3), (Dims{97, 1, 1}));
    EXPECT_EQ(fitting_dims(1'000'000, 3), (Dims{100, 100, 100}));
}

TEST(Dims, ThatAreGivenStay) {
    EXPECT_EQ(fitting_dims(24, 3, {0, 2, 0}), (Dims{4, 2, 3}));
    EXPECT_EQ(fitting_dims(24, 2, {2, 12, 0}), (Dims{2, 12, 1}));
}

TEST(Dims, ThatDoNotMakeUpTheRanksAreRefused) {
    EXPECT_THROW(fitting_dims(24, 2, {5, 0, 0}), InputError);
    EXPECT_THROW(fitting_dims(24, 2, {2, 6, 0}), InputError);
    EXPECT_THROW(fitting_dims(24, 3, {0xffffffff, 0xffffffff, 0xffffffff}), InputError);
}

TEST(Patterns, EndWithEveryMessageReceivedEagerOrByRendezvous) {
    for (const Pattern& pattern : patterns()) {
        for (const std::uint32_t P : rank_counts) {
            for (const bool periodic : {false, true}) {
                for (const std::uint32_t sweeps : {1U, 4U, 8U}) {
                    const GridShape shape = fitted(pattern, {.blocks = 3, .sweeps = sweeps, .periodic = periodic}, P);
                    for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous}) {
                        const CollectiveRun run(pattern.step, P, shaped(P, 10, shape), protocol);
                        ASSERT_EQ(run.wrong(), "") << pattern.name << ", " << P << " ranks";
                    }
                }
            }
        }
    }
}

TEST(Patterns, AreFoundByTheirNames) {
    for (const Pattern& pattern : patterns()) {
        EXPECT_EQ(find_pattern(pattern.name), &pattern);
        EXPECT_FALSE(pattern.sentence.empty() || pattern.source.empty());
    }
    EXPECT_EQ(find_pattern("gossip"), nullptr);
}

TEST(Patterns, ChooseTheirGridThemselvesWhereNobodyDoes) {
    const GridShape shape = fitted(*find_pattern("halo2d"), {}, 12);
    const CollectiveRun given(halo2d, 12, shaped(12, 10, shape));
    const CollectiveRun chosen(halo2d, 12, calls(12, 0, 10));
    ASSERT_EQ(given.messages().size(), chosen.messages().size());
    for (std::size_t i = 0; i < given.messages().size(); ++i) {
        EXPECT_EQ(given.messages()[i].from, chosen.messages()[i].from);
        EXPECT_EQ(given.messages()[i].to, chosen.messages()[i].to);
    }
}

TEST(Patterns, RefuseWhatTheirStepsCannotCount) {
    const Pattern& pattern = *find_pattern("sweep");
    EXPECT_THROW(fitted(pattern, {.sweeps = 9}, 4), InputError);
    EXPECT_THROW(fitted(pattern, {.blocks = 0}, 4), InputError);
    EXPECT_THROW(fitted(pattern, {.blocks = (1U << 26) + 1}, 4), InputError);
    EXPECT_THROW(fitted(pattern, {.dims = {3, 0, 0}}, 4), InputError);
}

/// The messages of a halo exchange, by what their ends' places in the grid say.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> faces(const Dims& dims, std::uint32_t ranks,
                                                                       bool periodic) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> expected;
    for (std::uint32_t a = 0; a < ranks; ++a) {
        for (std::uint32_t b = 0; b < ranks; ++b) {
            std::uint32_t apart = 0;
            std::uint32_t meet = 0;
            for (std::size_t d = 0; d < 3; ++d) {
                const std::uint32_t x = at(a, dims)[d];
                const std::uint32_t y = at(b, dims)[d];
                apart += x != y ? 1 : 0;
                meet += x + 1 == y || y + 1 == x ? 1 : 0;
                meet += periodic && x != y && (x + y + 1 == dims[d]) && (x == 0 || y == 0) ? 1 : 0;
            }
            if (apart == 1 && meet > 0) {
                expected[{a, b}] = meet;
            }
        }
    }
    return expected;
}

TEST(Halo, EveryRankSendsAFaceToEachNeighbourInTheGrid) {
    for (const Pattern& pattern : patterns()) {
        if (pattern.name == "sweep" || pattern.by_slab) {
            continue;
        }
        for (const std::uint32_t P : {1U, 2U, 3U, 4U, 7U, 8U, 12U, 16U, 27U, 64U}) {
            for (const bool periodic : {false, true}) {
                const GridShape shape = fitted(pattern, {.periodic = periodic}, P);
                const CollectiveRun run(pattern.step, P, shaped(P, 10, shape));
                std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> sent;
                for (const Sent& m : run.messages()) {
                    ++sent[{m.from, m.to}];
                    ASSERT_EQ(m.bytes, 10);
                }
                ASSERT_EQ(sent, faces(shape.dims, P, periodic)) << pattern.name << ", " << P << " ranks";
            }
        }
    }
}

TEST(Slabs, EveryRankSendsAPartOfEachSlabToEveryOther) {
    constexpr std::uint32_t slabs = 3;
    for (const Pattern& pattern : patterns()) {
        if (!pattern.by_slab) {
            continue;
        }
        const bool packed = pattern.name == "packed_slabs_put";
        for (const std::uint32_t P : rank_counts) {
            const GridShape shape = fitted(pattern, {.compute_ns = 7, .blocks = slabs}, P);
            const CollectiveRun run(pattern.step, P, shaped(P, 10, shape));
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sent;
            for (const Sent& m : run.messages()) {
                ASSERT_EQ(m.bytes, packed ? 10 * slabs : 10) << pattern.name;
                sent[{m.from, m.to}] += m.bytes;
            }
            ASSERT_EQ(sent.size(), std::size_t{P} * (P - 1)) << pattern.name << ", " << P << " ranks";
            for (const auto& [ends, bytes] : sent) {
                ASSERT_NE(ends.first, ends.second);
                ASSERT_EQ(bytes, 10 * slabs) << pattern.name << ", " << P << " ranks";
            }
            for (std::uint32_t rank = 0; rank < P; ++rank) {
                ASSERT_EQ(run.computed(rank), 7 * slabs);
            }
        }
    }
}

TEST(Slabs, MoreThanStepNumbersCanCountAreRefused) {
    const Pattern& pattern = *find_pattern("slabs_put");
    EXPECT_NO_THROW(fitted(pattern, {.blocks = 1 << 20}, 1 << 10));
    EXPECT_THROW(fitted(pattern, {.blocks = (1 << 20) + 1}, 1 << 10), InputError);
}

TEST(Halo, FacesAcrossEachDimensionHaveTheirOwnSize) {
    const GridShape shape{.dims = {2, 3, 4}, .face_bytes = {100, 20, 3}, .compute_ns = 5, .periodic = false};
    const CollectiveRun run(halo3d, 24, shaped(24, 10, shape));
    EXPECT_EQ(run.wrong(), "");
    EXPECT_EQ(run.bytes(), 2 * (1 * 12 * 100 + 2 * 8 * 20 + 3 * 6 * 3));
    EXPECT_EQ(run.computed(0), 5);
}

/// Every rank's block b of a sweep waits for the same block of its upstream neighbours.
TEST(Sweep, AWaveCrossesTheGridFromACorner) {
    const GridShape shape{.dims = {3, 4, 1}, .face_bytes = {7, 9, 0}, .compute_ns = 5, .blocks = 6, .sweeps = 1};
    const CollectiveRun run(sweep, 12, shaped(12, 10, shape));
    ASSERT_EQ(run.wrong(), "");
    std::uint64_t downwards = 0;
    for (const Sent& m : run.messages()) {
        EXPECT_TRUE(m.to == m.from + 4 || (m.to == m.from + 1 && m.to % 4 != 0));
        EXPECT_EQ(m.bytes, m.to == m.from + 4 ? 7 : 9);
        downwards += m.to == m.from + 4 ? 1 : 0;
        // With its b-th message to a neighbour, a rank has got b from each of the two before it.
        std::map<std::uint32_t, int> got;
        int sent = 1;
        for (const Sent& other : run.messages()) {
            sent += other.from == m.from && other.to == m.to && other.sent_at < m.sent_at ? 1 : 0;
            got[other.from] += other.to == m.from && other.got_at < m.sent_at ? 1 : 0;
        }
        EXPECT_TRUE(m.from < 4 || got[m.from - 4] >= sent);
        EXPECT_TRUE(m.from % 4 == 0 || got[m.from - 1] >= sent);
    }
    EXPECT_EQ(downwards, 6 * 2 * 4);
    EXPECT_EQ(run.messages().size(), 6 * (2 * 4 + 3 * 3));
    EXPECT_EQ(run.computed(11), 30);
}

TEST(Sweep, FourSweepsBeginInTheFourCornersAndEightTwiceInEach) {
    constexpr std::uint32_t block = 5;  // steps
    for (const std::uint32_t sweeps : {4U, 8U}) {
        const GridShape shape{.dims = {3, 3, 1}, .blocks = 1, .sweeps = sweeps};
        const CollectiveRun run(sweep, 9, shaped(9, 10, shape));
        std::map<std::uint32_t, std::uint32_t> first;
        for (const std::uint32_t corner : {0U, 2U, 6U, 8U}) {
            for (std::uint32_t s = 0; s < sweeps; ++s) {
                const auto messages = between(run.messages(), block * s, block * s + block);
                const bool hears =
                    std::any_of(messages.begin(), messages.end(), [corner](const Sent& m) { return m.to == corner; });
                first[corner] += hears ? 0 : 1;
            }
            EXPECT_EQ(first[corner], sweeps / 4) << "so many sweeps begin at rank " << corner;
        }
        EXPECT_EQ(run.messages().size(), sweeps * 12);
    }
}

TEST(Sweep, TheGridIsOpenEvenIfTheShapeIsPeriodic) {
    const GridShape shape{.dims = {2, 2, 1}, .periodic = true};
    EXPECT_EQ(CollectiveRun(sweep, 4, shaped(4, 10, shape)).messages().size(), 4);
}

}  // namespace
}  // namespace idlewave::collectives
