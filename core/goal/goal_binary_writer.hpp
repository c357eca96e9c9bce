#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/output_file.hpp"
#include "goal/listing.hpp"

namespace idlewave {

/// Writes LogGOPSim's binary schedules, byte for byte as its txt2bin does.
class GoalBinaryWriter {
  public:
    /// Throws InputError if the file cannot be written at any place.
    GoalBinaryWriter(OutputFile& out, std::uint32_t ranks);

    /// Adds the next rank. Throws InputError if its dependencies are more than the format can hold.
    void add(const Listing& rank);

    /// Writes what stands at the beginning and is known at the end.
    void finish();

  private:
    struct Range {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };

    void sort(const Listing& rank);

    OutputFile& out_;
    std::uint32_t ranks_;
    std::uint8_t highest_cpu_ = 0;
    std::uint8_t highest_nic_ = 0;
    std::vector<Range> table_;
    std::vector<std::uint32_t> indegree_;
    std::vector<Requirement> sorted_;  ///< in the order of the appendix
    std::vector<std::byte> bytes_;
};

}  // namespace idlewave
