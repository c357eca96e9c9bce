#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/output_file.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::goal {

/// Writes LogGOPSim's binary schedules, byte for byte as its txt2bin does.
class GoalBinaryWriter {
  public:
    /// Throws InputError if `out` does not support writing at any offset.
    GoalBinaryWriter(OutputFile& out, std::uint32_t ranks);

    /// Adds the next rank. Throws InputError if it has more requirements than the format can hold.
    void add(const RankSchedule& rank);

    /// Writes the header and the table, which are known only at the end.
    void finish();

  private:
    struct Range {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };

    void sort(const RankSchedule& rank);

    OutputFile& out_;
    std::uint32_t ranks_;
    std::uint8_t highest_cpu_ = 0;
    std::uint8_t highest_nic_ = 0;
    std::vector<Range> table_;
    std::vector<std::uint32_t> indegree_;
    std::vector<Requirement> sorted_;  ///< in the order of the appendix
    std::vector<std::byte> bytes_;
};

}  // namespace idlewave::goal
