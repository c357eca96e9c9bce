#pragma once

#include <cstdint>
#include <string>

#include "base/output_file.hpp"
#include "goal/graph.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::goal {

/// Appends the GOAL text of one rank to `out`. Op i gets the label `l<i+1>` instead of its own one: labels may occur
/// twice, or be missing where a requirement needs one.
void write_rank(std::string& out, std::uint32_t rank, const RankSchedule& schedule);

/// The GOAL text of a whole schedule: `num_ranks`, and then every rank as `list(rank, schedule)` returns it.
template <class List>
std::string goal_text(std::uint32_t ranks, List list) {
    std::string text = "num_ranks " + std::to_string(ranks) + "\n";
    RankSchedule schedule;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        list(rank, schedule);
        write_rank(text, rank, schedule);
    }
    return text;
}

/// Writes GOAL text into a file, rank by rank.
///
/// `origin`, if not empty, is a line that says what the schedule was made from. It is written before the text as a
/// comment. A second comment after the text holds the text's CRC-32C, by which a reader can tell whether the text was
/// changed since.
class GoalWriter {
  public:
    GoalWriter(OutputFile& out, std::uint32_t ranks, const std::string& origin = {});

    void add(const RankSchedule& rank);

    /// Call once after the last rank.
    void finish();

  private:
    void append(const std::string& text);

    OutputFile& out_;
    bool has_origin_;
    std::uint32_t crc_ = 0;
    std::uint32_t written_ = 0;
    std::string text_;
};

}  // namespace idlewave::goal
