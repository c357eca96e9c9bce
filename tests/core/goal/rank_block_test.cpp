#include "goal/rank_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "dice.hpp"
#include "goal/rank_encoder.hpp"
#include "random_listing.hpp"

namespace idlewave {
namespace {

using testing::Dice;

bool same(const Op& a, const Op& b) {
    return a.kind == b.kind && a.size == b.size && a.peer == b.peer && a.tag == b.tag && a.cpu == b.cpu &&
           a.nic == b.nic;
}

/// The ops that wait for one op's start or end, in order, as the listing has them.
std::vector<Place> followers(const Listing& rank, Place place, Edge edge) {
    std::vector<Place> found;
    for (const Requirement& r : rank.requirements) {
        if (r.other == place && r.edge == edge) {
            found.push_back(r.waiting);
        }
    }
    return found;
}

std::vector<Place> followers(const RankBlock& block, Place place, Edge edge) {
    std::vector<Place> found;
    Followers list = block.followers(place, edge);
    for (Place next = 0; list.next(next);) {
        found.push_back(next);
    }
    return found;
}

void expect_same(const Listing& rank, const RankBlock& block) {
    ASSERT_EQ(block.size(), rank.ops.size());
    for (Place place = 0; place < block.size(); ++place) {
        ASSERT_TRUE(same(block.op(place), rank.ops[place])) << place;
        ASSERT_EQ(block.label(place), rank.labels.at(place));
        const auto waits = std::count_if(rank.requirements.begin(), rank.requirements.end(),
                                         [&](const Requirement& r) { return r.waiting == place; });
        ASSERT_EQ(block.requirements(place), static_cast<std::uint64_t>(waits));
        ASSERT_EQ(block.is_root(place), waits == 0);
        for (const Edge edge : {Edge::start, Edge::end}) {
            ASSERT_EQ(followers(block, place, edge), followers(rank, place, edge));
        }
    }
}

TEST(RankBlock, HoldsEveryRankAndIsFoundSound) {
    Dice dice(1);
    RankEncoder encoder;
    for (int i = 0; i < 2000; ++i) {
        const Listing rank = testing::random_listing(dice, 5, i % 100 == 0 ? 400 : 40);
        const auto words = encoder.encode(rank);
        const RankBlock block(words.data());
        expect_same(rank, block);
        ASSERT_EQ(RankBlock::sizes(words.data()).words(), words.size());
        ASSERT_NO_THROW(check_block(words, 5));
        Listing again;
        block.list_into(again);
        expect_same(again, block);
    }
}

/// The same rank with other peers.
Listing with_other_peers(Dice& dice, Listing rank, std::uint32_t ranks) {
    for (Op& op : rank.ops) {
        if (op.kind != OpKind::calc) {
            op.peer = dice.one_in(8) && op.kind == OpKind::recv ? any : dice.small(ranks);
        }
    }
    return rank;
}

TEST(RankBlock, ARankWithOtherPeersMayShareTheWordsOfAnother) {
    Dice dice(2);
    RankEncoder encoder;
    for (int i = 0; i < 500; ++i) {
        const Listing rank = testing::random_listing(dice, 5, 40);
        const auto encoded = encoder.encode(rank);
        const std::vector<std::uint64_t> words(encoded.begin(), encoded.end());
        const RankBlock block(words.data());
        const Listing other = with_other_peers(dice, rank, 5);
        ASSERT_TRUE(block.is_like(encoder.encode(other)));
        std::vector<std::uint32_t> peers;
        for (const Op& op : other.ops) {
            peers.push_back(op.peer);
        }
        const RankBlock shared(block, peers.data());
        expect_same(other, shared);
        ASSERT_TRUE(shared.is_like(words));
    }
}

TEST(RankBlock, IsNotLikeOneThatDiffersInAnythingElse) {
    Listing rank;
    rank.ops = {{.size = 8, .peer = 1, .tag = 2, .kind = OpKind::recv},
                {.size = 8, .peer = 1, .tag = 2, .kind = OpKind::send},
                {.size = 100, .kind = OpKind::calc}};
    rank.requirements = {{2, 0, Edge::end}};
    for (int i = 0; i < 3; ++i) {
        rank.labels.add("x");
    }
    RankEncoder encoder;
    const auto encoded = encoder.encode(rank);
    const std::vector<std::uint64_t> words(encoded.begin(), encoded.end());
    const auto is_like = [&](auto change) {
        Listing other = rank;
        change(other);
        return RankBlock(words.data()).is_like(encoder.encode(other));
    };
    EXPECT_TRUE(is_like([](Listing& /*other*/) {}));
    EXPECT_TRUE(is_like([](Listing& other) { other.ops[0].peer = any; }));
    EXPECT_FALSE(is_like([](Listing& other) { other.ops[0].size = 9; }));
    EXPECT_FALSE(is_like([](Listing& other) { other.ops[1].tag = 3; }));
    EXPECT_FALSE(is_like([](Listing& other) { other.ops[1].kind = OpKind::recv; }));
    EXPECT_FALSE(is_like([](Listing& other) { other.ops[2].size += std::uint64_t{1} << 40; }));
    EXPECT_FALSE(is_like([](Listing& other) { other.requirements[0].edge = Edge::start; }));
    EXPECT_FALSE(is_like([](Listing& other) { other.ops.push_back(other.ops[2]); }));
    EXPECT_FALSE(is_like([](Listing& other) {
        other.labels.clear();
        for (const char* label : {"x", "y", "x"}) {
            other.labels.add(label);
        }
    }));
}

TEST(RankBlock, HoldsManyDifferentMessages) {
    Listing rank;
    for (std::uint32_t i = 0; i < 5000; ++i) {
        rank.ops.push_back({.size = i % 1000, .peer = i, .tag = i / 1000, .kind = OpKind::send});
    }
    RankEncoder encoder;
    const auto words = encoder.encode(rank);
    EXPECT_EQ(RankBlock::sizes(words.data()).shapes, 5000U);
    for (Place i = 0; i < 5000; ++i) {
        ASSERT_TRUE(same(RankBlock(words.data()).op(i), rank.ops[i]));
    }
}

TEST(RankBlock, AChainCostsEightBytesAnOp) {
    Listing rank;
    for (Place i = 0; i < 1000; ++i) {
        rank.ops.push_back({.size = 10, .peer = i, .kind = i % 2 == 0 ? OpKind::send : OpKind::recv});
        rank.labels.add(numbered_label(i));
        if (i > 0) {
            rank.requirements.push_back({i, i - 1, i % 3 == 0 ? Edge::start : Edge::end});
        }
    }
    RankEncoder encoder;
    EXPECT_EQ(encoder.encode(rank).size_bytes(), 16 + 16 + 8 * 1000U);  // header, one shape, ops
}

TEST(RankBlock, ADependencyOnANearbyOpCostsLessThanFourBytes) {
    constexpr Place count = 10'000;
    Listing rank;
    Dice dice(3);
    for (Place i = 0; i < count; ++i) {
        rank.ops.push_back({.size = 10, .kind = OpKind::calc});
        if (i > 100) {
            rank.requirements.push_back({i, i - 2 - dice.small(90), Edge::end});
        }
    }
    RankEncoder encoder;
    const std::size_t bytes = encoder.encode(rank).size_bytes() - 8 * std::size_t{count};
    EXPECT_LT(bytes, 3 * rank.requirements.size());
}

TEST(RankBlock, ManyFollowersOfOneOpStayInOrder) {
    Listing rank;
    constexpr Place count = 100'000;
    rank.ops.resize(count);
    for (Place i = count; i-- > 1;) {
        rank.requirements.push_back({i, 0, Edge::end});
    }
    RankEncoder encoder;
    const RankBlock block(encoder.encode(rank).data());
    EXPECT_EQ(followers(block, 0, Edge::end), followers(rank, 0, Edge::end));
}

TEST(BlockCheck, AnswersEveryDamagedBlockWithAnErrorOrLetsItBeWalked) {
    Dice dice(2);
    RankEncoder encoder;
    int refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto sound = encoder.encode(testing::random_listing(dice, 4, 30));
        std::vector<std::uint64_t> words(sound.begin(), sound.end());
        for (std::uint64_t n = 1 + dice.roll(2); n > 0; --n) {
            std::uint64_t& word = words[dice.roll(words.size())];
            word = dice.one_in(4) ? dice.roll(~std::uint64_t{0}) : word ^ std::uint64_t{1} << dice.roll(64);
        }
        if (dice.one_in(10)) {
            words.resize(dice.roll(words.size()));
        }
        try {
            check_block(words, 4);
            Listing rank;
            RankBlock(words.data()).list_into(rank);
            const auto again = encoder.encode(rank);
            expect_same(rank, RankBlock(again.data()));
        } catch (const InputError& error) {
            ASSERT_NE(std::string(error.what()).find("expected"), std::string::npos);
            ++refused;
        }
    }
    EXPECT_GT(refused, 5000);
    EXPECT_LT(refused, 20'000);
}

}  // namespace
}  // namespace idlewave
