#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Loops in a list of words. A loop is its body; then a word with `loop_bit` and the length of the body; then how often
/// the body is executed again. Bodies may have loops themselves.
namespace idlewave::collectives {

/// No other word has it.
inline constexpr std::uint32_t loop_bit = 0x40000000;
inline constexpr std::uint32_t deepest_loop = 4;  ///< loops within each other

/// Where the execution of a list of words is in its loops.
struct LoopPosition {
    struct Loop {
        std::uint32_t word = 0;  ///< where the loop's word is
        std::uint32_t left = 0;  ///< executions of its body after the present one
    };
    Loop loops[deepest_loop] = {};
    std::uint32_t depth = 0;
};

/// The execution has come to the loop's word at `word`: returns where it goes on.
std::uint32_t next_in_loop(std::span<const std::uint32_t> words, std::uint32_t word, LoopPosition& position);

/// The same words with their repetitions as loops, in a time that is linear in their number. A repetition is found once
/// two executions of the body are there, from whichever word on, so a loop may begin at any word of its body.
std::vector<std::uint32_t> fold_loops(std::span<const std::uint32_t> words);

}  // namespace idlewave::collectives
