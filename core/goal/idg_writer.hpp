#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/output_file.hpp"
#include "goal/idg.hpp"
#include "goal/rank_encoder.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::goal {

/// Writes Idlewave's binary schedules from front to back, so that the number of ranks need not be known in advance.
class IdgWriter {
  public:
    explicit IdgWriter(OutputFile& out);

    /// Adds the next rank. Throws InputError if it is too large for a block (RankEncoder).
    void add(const RankSchedule& rank) { add_block(encoder_.encode(rank)); }

    /// Adds the next rank in its encoded form.
    void add_block(std::span<const std::uint64_t> words);

    /// Writes the table and the footer.
    void finish();

  private:
    OutputFile& out_;
    RankEncoder encoder_;
    std::vector<idg::Entry> table_;
    idg::Footer footer_;
};

}  // namespace idlewave::goal
