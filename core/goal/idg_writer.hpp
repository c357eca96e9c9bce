#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/output_file.hpp"
#include "goal/idg.hpp"
#include "goal/listing.hpp"
#include "goal/rank_encoder.hpp"

namespace idlewave {

/// Writes Idlewave's binary schedules from front to back, so that the number of ranks need not be known before.
class IdgWriter {
  public:
    explicit IdgWriter(OutputFile& out);

    /// Adds the next rank. Throws InputError if a block cannot hold it (RankEncoder).
    void add(const Listing& rank) { add_block(encoder_.encode(rank)); }

    /// Adds the next rank as it is in memory.
    void add_block(std::span<const std::uint64_t> words);

    /// Writes what stands at the end.
    void finish();

  private:
    OutputFile& out_;
    RankEncoder encoder_;
    std::vector<idg::Entry> table_;
    idg::Footer footer_;
};

}  // namespace idlewave
