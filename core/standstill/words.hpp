#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "goal/op.hpp"
#include "standstill/left.hpp"

namespace idlewave {

std::string text_of_tag(std::uint32_t tag);
std::string text_of_rank(std::uint32_t rank);

/// `count` and a noun that belongs to it.
std::string number_of(std::uint64_t count, const std::string& noun);

/// "waits for a message from rank 3 with tag 7", …
std::string why(const PendingOp& op);
/// "instruction 3 of 7", …, and that the rank does not go on from there.
Waiting waiting_of(const StuckRank& stuck);

/// Receives for which nobody sends.
struct UnmatchedReceives {
    std::vector<Waiting> first;
    std::uint64_t count = 0;
};

/// What the user reads: the cycle, receives and messages that have no other half, and how much is left in all.
std::string message_of(const LeftOver& found, const UnmatchedReceives& receives, std::uint64_t unmatched_messages);

/// How many lines of one kind a message has.
inline constexpr std::size_t most_lines = 8;

}  // namespace idlewave
