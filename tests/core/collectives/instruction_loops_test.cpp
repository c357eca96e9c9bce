#include "collectives/instruction_loops.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "random_schedule.hpp"
#include "trials.hpp"

namespace idlewave::collectives {
namespace {

using Words = std::vector<std::uint32_t>;

Words executed(const Words& folded) {
    Words words;
    LoopPosition position;
    for (std::uint32_t at = 0; at < folded.size();) {
        if ((folded[at] & loop_bit) != 0) {
            at = next_in_loop(folded, at, position);
        } else {
            words.push_back(folded[at++]);
        }
    }
    EXPECT_EQ(position.depth, 0U);
    return words;
}

/// A few words, some of them again and again, and so on within each other.
Words random_words(testing::Dice& dice, std::uint32_t depth) {
    Words words;
    for (std::uint64_t left = 1 + dice.roll(5); left > 0; --left) {
        const Words piece = depth > 0 && dice.one_in(2) ? random_words(dice, depth - 1) : Words{dice.small(6)};
        for (std::uint64_t times = dice.one_in(2) ? 1 : 1 + dice.roll(6); times > 0; --times) {
            words.insert(words.end(), piece.begin(), piece.end());
        }
    }
    return words;
}

TEST(InstructionLoops, AreExecutedAsTheWordsThatWereFolded) {
    for (std::uint64_t seed = 0; seed < testing::trials(2000); ++seed) {
        testing::Dice dice(seed);
        const Words words = random_words(dice, dice.small(6));
        ASSERT_EQ(executed(fold_loops(words)), words) << "seed " << seed;
    }
}

/// The words of a program of `iterations`, each of which sweeps eight times over as many blocks; another word ends it.
Words sweeps(std::uint32_t iterations, std::uint32_t blocks) {
    Words words;
    for (std::uint32_t i = 0; i < iterations; ++i) {
        for (std::uint32_t sweep = 0; sweep < 8; ++sweep) {
            for (std::uint32_t block = 0; block < blocks; ++block) {
                words.insert(words.end(), {4 * sweep, 4 * sweep + 1, 4 * sweep + 2});
            }
        }
        words.push_back(100);
    }
    return words;
}

TEST(InstructionLoops, OfIterationsWithLoopsAreStoredOnceHoweverOftenTheyAreExecuted) {
    const Words folded = fold_loops(sweeps(1000, 50));
    EXPECT_LT(folded.size(), 300U) << "of 1.2 million words, with a few iterations at the beginning and the end";
    EXPECT_EQ(executed(folded), sweeps(1000, 50));
}

TEST(InstructionLoops, NoneIsMadeOfWordsThatDoNotRepeat) {
    Words words(1000);
    for (std::uint32_t i = 0; i < words.size(); ++i) {
        words[i] = i;
    }
    EXPECT_EQ(fold_loops(words), words);
}

}  // namespace
}  // namespace idlewave::collectives
