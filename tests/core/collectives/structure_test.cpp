#include "collectives/structure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace idlewave::collectives {
namespace {

using PeerKind = PeerRule::Kind;

constexpr ProcessGrid box{{3, 4, 2}};

TEST(Structure, ShiftsLeadToNeighboursAndOutOfAGridThatIsNotPeriodic) {
    for (std::uint32_t rank = 0; rank < box.ranks(); ++rank) {
        for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
            for (const std::int32_t by : {-1, 1}) {
                PeerRule rule{.kind = PeerKind::shift};
                rule.shift[d] = by;
                const std::int64_t to = std::int64_t{box.coordinate(rank, d)} + by;
                const bool inside = to >= 0 && to < box.extents[d];
                const auto peer = peer_of(rule, box, rank);
                ASSERT_EQ(peer.has_value(), inside);
                rule.periodic[d] = true;
                const auto around = peer_of(rule, box, rank);
                ASSERT_TRUE(around.has_value());
                ASSERT_EQ(box.coordinate(*around, d), (to + box.extents[d]) % box.extents[d]);
                rule.shift[d] = -by;
                ASSERT_EQ(peer_of(rule, box, *around), rank) << "the neighbour's neighbour is the rank itself";
            }
        }
    }
}

TEST(Structure, FlipsAndTransposesGoBothWays) {
    constexpr ProcessGrid wide{{4, 8, 1}};
    for (std::uint32_t rank = 0; rank < wide.ranks(); ++rank) {
        for (const PeerRule& rule :
             {PeerRule{.kind = PeerKind::flip, .dimension = 1, .mask = 4},
              PeerRule{.kind = PeerKind::flip, .dimension = 0, .mask = 1}, PeerRule{.kind = PeerKind::transpose}}) {
            const auto peer = peer_of(rule, wide, rank);
            ASSERT_TRUE(peer.has_value());
            ASSERT_EQ(peer_of(rule, wide, *peer), rank);
        }
    }
    EXPECT_FALSE(peer_of({.kind = PeerKind::transpose}, {{3, 4, 1}}, 5).has_value());
    EXPECT_FALSE(peer_of({.kind = PeerKind::flip, .mask = 2}, {{3, 1, 1}}, 1).has_value());
}

TEST(Structure, ChildrenOfABinaryTreeHaveTheirParent) {
    constexpr ProcessGrid line{{13, 1, 1}};
    std::set<std::uint32_t> children;
    for (std::uint32_t rank = 0; rank < line.ranks(); ++rank) {
        for (const PeerKind kind : {PeerKind::left_child, PeerKind::right_child}) {
            if (const auto child = peer_of({.kind = kind}, line, rank)) {
                children.insert(*child);
                EXPECT_EQ(peer_of({.kind = PeerKind::parent}, line, *child), rank);
            }
        }
    }
    EXPECT_EQ(children.size(), 12U);
    EXPECT_FALSE(peer_of({.kind = PeerKind::parent}, line, 0).has_value());
}

TEST(Structure, EachOtherRankIsAPeerOnce) {
    constexpr ProcessGrid line{{7, 1, 1}};
    for (std::uint32_t rank = 0; rank < line.ranks(); ++rank) {
        std::set<std::uint32_t> peers;
        for (std::uint32_t other = 0; other + 1 < line.ranks(); ++other) {
            peers.insert(*peer_of({.kind = PeerKind::other, .number = other}, line, rank));
        }
        EXPECT_EQ(peers.size(), 6U);
        EXPECT_FALSE(peers.contains(rank));
        EXPECT_EQ(peer_of({.kind = PeerKind::worker, .number = 3}, line, rank).has_value(), rank == 0);
    }
}

TEST(Structure, CommunicatorsDivideTheWorldIntoRowsColumnsAndPlanes) {
    for (unsigned mask = 0; mask < 8; ++mask) {
        const CommunicatorRule rule{.varies = {(mask & 1U) != 0, (mask & 2U) != 0, (mask & 4U) != 0}};
        std::set<std::uint32_t> first_members;
        for (std::uint32_t rank = 0; rank < box.ranks(); ++rank) {
            std::vector<std::uint32_t> members;
            for (std::uint32_t member = 0; member < rule.size(box); ++member) {
                members.push_back(rule.member(box, rank, member));
                for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
                    ASSERT_TRUE(rule.varies[d] || box.coordinate(members.back(), d) == box.coordinate(rank, d));
                }
            }
            ASSERT_TRUE(std::ranges::is_sorted(members));
            ASSERT_EQ(members[rule.rank_in(box, rank)], rank);
            first_members.insert(members[0]);
        }
        ASSERT_EQ(first_members.size() * rule.size(box), box.ranks());
    }
}

}  // namespace
}  // namespace idlewave::collectives
