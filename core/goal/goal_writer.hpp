#pragma once

#include <cstdint>
#include <string>

#include "base/output_file.hpp"
#include "goal/graph.hpp"
#include "goal/listing.hpp"

namespace idlewave {

/// Adds the GOAL text of one rank to `out`. Op number i has the label `l<i+1>`, whatever its label was: labels may
/// come twice, or be missing where a dependency needs one.
void write_rank(std::string& out, std::uint32_t rank, const Listing& listing);

/// GOAL text of a whole schedule: `num_ranks`, then every rank as `list(rank, listing)` writes it out.
template <class List>
std::string goal_text(std::uint32_t ranks, List list) {
    std::string text = "num_ranks " + std::to_string(ranks) + "\n";
    Listing listing;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        list(rank, listing);
        write_rank(text, rank, listing);
    }
    return text;
}

/// Writes GOAL text into a file, rank by rank.
///
/// `origin`, if there is one, is a line that says what the schedule was made from. It stands above the text as a
/// comment, and below the text stands another one, the seal, with the text's CRC-32C: so that a reader can tell whether
/// the text is still the one that was made so.
class GoalWriter {
  public:
    GoalWriter(OutputFile& out, std::uint32_t ranks, const std::string& origin = {});

    void add(const Listing& rank);

    /// Call it once after the last rank.
    void finish();

  private:
    void append(const std::string& text);

    OutputFile& out_;
    bool sealed_;
    std::uint32_t crc_ = 0;
    std::uint32_t written_ = 0;
    std::string text_;
};

}  // namespace idlewave
