#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "goal/op.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave::standstill {

std::string text_of_tag(std::uint32_t tag);
std::string text_of_rank(std::uint32_t rank);

/// `count` and a noun, in the plural where there is not one: "2 bytes".
std::string number_of(std::uint64_t count, const std::string& noun);

/// "waits for a message from rank 3 with tag 7", …
std::string why(const PendingOp& op);
/// A rank that stands at an instruction or an operation, such as "instruction 3 of 7: cannot go on".
Waiting waiting_of(const UnfinishedRank& stuck);

/// Receives that no send matches.
struct UnmatchedWaits {
    std::vector<Waiting> first;
    std::uint64_t count = 0;
    bool one_sided = false;  ///< whether awaits or locks are among them
};

/// The text for the user: the cycle, the receives and messages without a match, and how many things are left in all.
std::string message_of(const LeftOver& found, const UnmatchedWaits& receives, std::uint64_t unmatched_messages);

/// The most lines of each kind in that text.
inline constexpr std::size_t most_lines = 8;

}  // namespace idlewave::standstill
