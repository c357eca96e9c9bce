#include "goal/rank_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "dice.hpp"
#include "goal/rank_encoder.hpp"
#include "random_rank_schedule.hpp"

namespace idlewave::goal {
namespace {

using testing::Dice;

bool same_op(const Op& a, const Op& b) {
    return a.kind == b.kind && a.size == b.size && a.peer == b.peer && a.tag == b.tag && a.cpu == b.cpu &&
           a.nic == b.nic;
}

/// The ops that wait for one op's start or end, in order, as the listing has them.
std::vector<OpIndex> successors(const RankSchedule& rank, OpIndex op_index, Edge edge) {
    std::vector<OpIndex> found;
    for (const Requirement& r : rank.requirements) {
        if (r.predecessor == op_index && r.edge == edge) {
            found.push_back(r.successor);
        }
    }
    return found;
}

std::vector<OpIndex> successors(const RankBlock& block, OpIndex op_index, Edge edge) {
    std::vector<OpIndex> found;
    Successors list = block.successors(op_index, edge);
    for (OpIndex next = 0; list.next(next);) {
        found.push_back(next);
    }
    return found;
}

void expect_same(const RankSchedule& rank, const RankBlock& block) {
    ASSERT_EQ(block.size(), rank.ops.size());
    for (OpIndex op_index = 0; op_index < block.size(); ++op_index) {
        ASSERT_TRUE(same_op(block.op(op_index), rank.ops[op_index])) << op_index;
        ASSERT_EQ(block.label(op_index), rank.labels.at(op_index));
        const auto waits = std::count_if(rank.requirements.begin(), rank.requirements.end(),
                                         [&](const Requirement& r) { return r.successor == op_index; });
        ASSERT_EQ(block.read_links(op_index, [](Edge, OpIndex) {}), static_cast<std::uint64_t>(waits));
        ASSERT_EQ(block.is_root(op_index), waits == 0);
        for (const Edge edge : {Edge::start, Edge::end}) {
            ASSERT_EQ(successors(block, op_index, edge), successors(rank, op_index, edge));
        }
    }
}

TEST(RankBlock, HoldsEveryRankAndIsFoundSound) {
    Dice dice(1);
    RankEncoder encoder;
    for (int i = 0; i < 2000; ++i) {
        const RankSchedule rank = testing::random_rank_schedule(dice, 5, i % 100 == 0 ? 400 : 40, i % 2 == 0);
        const auto words = encoder.encode(rank);
        const RankBlock block(words.data());
        expect_same(rank, block);
        ASSERT_EQ(RankBlock::sizes(words.data()).words(), words.size());
        ASSERT_NO_THROW(check_block(words, 5));
        RankSchedule again;
        block.decode(again);
        expect_same(again, block);
    }
}

/// The same rank with other peers, and with other lengths of its calcs, as far as these are values.
RankSchedule with_other_values(Dice& dice, RankSchedule rank, std::uint32_t ranks) {
    for (Op& op : rank.ops) {
        if (op.kind != OpKind::calc) {
            op.peer = dice.one_in(8) && op.kind == OpKind::recv ? any : dice.small(ranks);
        } else if (op.size <= op_word::longest_calc) {
            op.size = dice.one_in(8) ? RankBlock::largest_value : dice.small(1000);
        }
    }
    return rank;
}

TEST(RankBlock, ARankWithOtherPeersAndCalcsMayShareTheWordsOfAnother) {
    Dice dice(2);
    RankEncoder encoder;
    for (int i = 0; i < 500; ++i) {
        const RankSchedule rank = testing::random_rank_schedule(dice, 5, 40);
        const auto encoded = encoder.encode(rank);
        const std::vector<std::uint64_t> words(encoded.begin(), encoded.end());
        const RankBlock block(words.data());
        const RankSchedule other = with_other_values(dice, rank, 5);
        const auto others_words = encoder.encode(other);
        ASSERT_TRUE(block.differs_in_values_only(others_words));
        const RankBlock alone(others_words.data());
        std::vector<std::uint32_t> values;
        for (OpIndex op_index = 0; op_index < alone.size(); ++op_index) {
            values.push_back(alone.encoded_value(op_index));
        }
        const RankBlock shared(block, values.data());
        expect_same(other, shared);
        ASSERT_TRUE(shared.differs_in_values_only(others_words));
    }
}

TEST(RankBlock, IsNotLikeOneThatDiffersInAnythingElse) {
    RankSchedule rank;
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
    const auto differs_in_values_only = [&](auto change) {
        RankSchedule other = rank;
        change(other);
        return RankBlock(words.data()).differs_in_values_only(encoder.encode(other));
    };
    EXPECT_TRUE(differs_in_values_only([](RankSchedule& /*other*/) {}));
    EXPECT_TRUE(differs_in_values_only([](RankSchedule& other) { other.ops[0].peer = any; }));
    EXPECT_FALSE(differs_in_values_only([](RankSchedule& other) { other.ops[0].size = 9; }));
    EXPECT_FALSE(differs_in_values_only([](RankSchedule& other) { other.ops[1].tag = 3; }));
    EXPECT_FALSE(differs_in_values_only([](RankSchedule& other) { other.ops[1].kind = OpKind::recv; }));
    EXPECT_TRUE(differs_in_values_only([](RankSchedule& other) { other.ops[2].size = RankBlock::largest_value; }));
    EXPECT_FALSE(differs_in_values_only([](RankSchedule& other) { other.ops[2].size = RankBlock::largest_value + 1; }));
    EXPECT_FALSE(differs_in_values_only([](RankSchedule& other) { other.ops[2].cpu = 1; }));
    EXPECT_FALSE(differs_in_values_only([](RankSchedule& other) { other.requirements[0].edge = Edge::start; }));
    EXPECT_FALSE(differs_in_values_only([](RankSchedule& other) { other.ops.push_back(other.ops[2]); }));
    EXPECT_FALSE(differs_in_values_only([](RankSchedule& other) {
        other.labels.clear();
        for (const char* label : {"x", "y", "x"}) {
            other.labels.add(label);
        }
    }));
}

TEST(RankBlock, HoldsManyDifferentMessages) {
    RankSchedule rank;
    for (std::uint32_t i = 0; i < 5000; ++i) {
        rank.ops.push_back({.size = i % 1000, .peer = i, .tag = i / 1000, .kind = OpKind::send});
    }
    RankEncoder encoder;
    const auto words = encoder.encode(rank);
    EXPECT_EQ(RankBlock::sizes(words.data()).shapes, 5000U);
    for (OpIndex i = 0; i < 5000; ++i) {
        ASSERT_TRUE(same_op(RankBlock(words.data()).op(i), rank.ops[i]));
    }
}

TEST(RankBlock, AChainCostsEightBytesAnOp) {
    RankSchedule rank;
    for (OpIndex i = 0; i < 1000; ++i) {
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
    constexpr OpIndex count = 10'000;
    RankSchedule rank;
    Dice dice(3);
    for (OpIndex i = 0; i < count; ++i) {
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
    RankSchedule rank;
    constexpr OpIndex count = 100'000;
    rank.ops.resize(count);
    for (OpIndex i = count; i-- > 1;) {
        rank.requirements.push_back({i, 0, Edge::end});
    }
    RankEncoder encoder;
    const RankBlock block(encoder.encode(rank).data());
    EXPECT_EQ(successors(block, 0, Edge::end), successors(rank, 0, Edge::end));
}

std::string refusal_of(const std::vector<std::uint64_t>& words) {
    try {
        check_block(words, 2);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no refusal";
}

TEST(BlockCheck, RefusesAOneSidedKindThatIsNoneOrDoesNotFitItsWord) {
    RankEncoder encoder;
    for (const OpKind kind :
         {OpKind::put, OpKind::get, OpKind::await, OpKind::lock, OpKind::shared_lock, OpKind::unlock}) {
        RankSchedule rank;
        rank.ops = {{.size = 1, .peer = 1, .tag = 2, .kind = kind}};
        rank.labels.add("");
        const auto sound = encoder.encode(rank);
        std::vector<std::uint64_t> words(sound.begin(), sound.end());
        ASSERT_EQ(refusal_of(words), "no refusal");
        const std::uint64_t shown = static_cast<std::uint64_t>(kind) << 48;
        const auto shape =
            std::find_if(words.begin(), words.end(), [&](std::uint64_t word) { return word >> 48 == shown >> 48; });
        ASSERT_NE(shape, words.end()) << "the shape says which kind it is";
        for (std::uint64_t other = 1; other < 12; ++other) {
            *shape = (*shape & 0xffff'ffff'ffff) | other << 48;
            const bool known = other >= 3 && other <= 8;
            const bool fits = (other == 5) == (kind == OpKind::await);
            EXPECT_EQ(refusal_of(words),
                      known && fits
                          ? "no refusal"
                          : "op 0: expected a kind of one-sided op that fits its word, found " + std::to_string(other));
        }
    }
}

TEST(BlockCheck, AnswersEveryDamagedBlockWithAnErrorOrLetsItBeWalked) {
    Dice dice(2);
    RankEncoder encoder;
    int refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto sound = encoder.encode(testing::random_rank_schedule(dice, 4, 30, dice.one_in(2)));
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
            RankSchedule rank;
            RankBlock(words.data()).decode(rank);
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
}  // namespace idlewave::goal
