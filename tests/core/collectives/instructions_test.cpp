#include "collectives/instructions.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "random_schedule.hpp"
#include "trials.hpp"

namespace idlewave::collectives {
namespace {

using InstructionKind = Instruction::Kind;

std::vector<Instruction> in_order(const Instructions& instructions) {
    std::vector<Instruction> found;
    instructions.each([&found](const Instruction& instruction) { found.push_back(instruction); });
    return found;
}

Instruction random_instruction(testing::Dice& dice) {
    if (dice.one_in(2)) {
        return {.kind = InstructionKind::calc,
                .size = dice.one_in(4) ? dice.roll(std::uint64_t{1} << 50) : dice.roll(3)};
    }
    return {.kind = dice.one_in(2) ? InstructionKind::send : InstructionKind::recv,
            .blocking = dice.one_in(2),
            .slot = dice.small(2),
            .peer = dice.small(3),
            .tag = dice.small(2),
            .size = dice.roll(3)};
}

TEST(Instructions, AreReadInTheOrderInWhichTheyWereAdded) {
    for (std::uint64_t seed = 0; seed < testing::trials(200); ++seed) {
        testing::Dice dice(seed);
        Instructions instructions;
        std::vector<Instruction> expected;
        for (std::uint64_t left = dice.roll(80); left > 0; --left) {
            expected.push_back(random_instruction(dice));
            instructions.push_back(expected.back());
            ASSERT_EQ(instructions.size(), expected.size());
            ASSERT_EQ(in_order(instructions), expected) << "seed " << seed;
        }
    }
}

TEST(Instructions, LoopsKeepTheOrderAndTheTimesOfTheirIterations) {
    for (std::uint64_t seed = 0; seed < testing::trials(200); ++seed) {
        testing::Dice dice(seed);
        std::vector<Instruction> body;
        for (std::uint64_t left = 1 + dice.roll(6); left > 0; --left) {
            body.push_back(random_instruction(dice));
        }
        Instructions instructions;
        std::vector<Instruction> expected;
        for (std::uint64_t iteration = dice.roll(20); iteration > 0; --iteration) {
            for (Instruction instruction : body) {
                instruction.size += instruction.kind == InstructionKind::calc ? dice.roll(300) : 0;
                expected.push_back(instruction);
                instructions.push_back(instruction);
            }
        }
        instructions.fold();
        ASSERT_EQ(in_order(instructions), expected) << "seed " << seed;
        ASSERT_EQ(instructions.size(), expected.size());
    }
}

TEST(Instructions, TakeOneByteForAnIterationOfShortComputation) {
    Instructions instructions;
    for (std::uint64_t iteration = 0; iteration < 100'000; ++iteration) {
        instructions.push_back({.kind = InstructionKind::calc, .size = iteration % 100});
        instructions.push_back({.kind = InstructionKind::send, .blocking = true, .peer = 1, .size = 8});
    }
    instructions.fold();
    EXPECT_LT(instructions.memory(), 101'000U);
}

TEST(Instructions, AMessageIsReplacedWithTheComputationBeforeItLeftAsItIs) {
    Instructions instructions;
    instructions.push_back({.kind = InstructionKind::recv, .slot = 0, .peer = 7});
    instructions.push_back({.kind = InstructionKind::calc, .size = 500});
    instructions.push_back({.kind = InstructionKind::recv, .slot = 1, .peer = 7});
    const std::uint32_t second = instructions.last_word();
    instructions.push_back({.kind = InstructionKind::recv, .slot = 1, .peer = 7});
    Instruction changed = instructions.at_word(second);
    changed.peer = 8;
    instructions.replace_word(second, changed);
    const std::vector<Instruction> expected = {{.kind = InstructionKind::recv, .slot = 0, .peer = 7},
                                               {.kind = InstructionKind::calc, .size = 500},
                                               {.kind = InstructionKind::recv, .slot = 1, .peer = 8},
                                               {.kind = InstructionKind::recv, .slot = 1, .peer = 7}};
    EXPECT_EQ(in_order(instructions), expected);
}

TEST(Instructions, ComputationAtTheEndGrowsAndOtherwiseBegins) {
    Instructions instructions;
    instructions.extend_calc(5);
    instructions.extend_calc(6);
    EXPECT_TRUE(instructions.ends_with_calc());
    instructions.push_back({.kind = InstructionKind::send, .slot = 0});
    EXPECT_FALSE(instructions.ends_with_calc());
    instructions.extend_calc(7);
    const std::vector<Instruction> expected = {{.kind = InstructionKind::calc, .size = 11},
                                               {.kind = InstructionKind::send, .slot = 0},
                                               {.kind = InstructionKind::calc, .size = 7}};
    EXPECT_EQ(in_order(instructions), expected);
}

}  // namespace
}  // namespace idlewave::collectives
