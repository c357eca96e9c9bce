#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/input_file.hpp"
#include "goal/idg.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::goal {

/// Reads Idlewave's binary schedules, rank by rank. It trusts nothing: checksums detect damage, and every block is
/// checked for validity. Errors are InputErrors `file: byte …, rank …: expected …, found …`.
class IdgReader {
  public:
    /// The file must be regular and outlive the reader.
    explicit IdgReader(const InputFile& file);

    [[nodiscard]] std::uint32_t ranks() const { return footer_.ranks; }

    /// Returns the block of the next rank, checked, and valid until the next call. Empty after the last rank.
    std::span<const std::uint64_t> next_block();

    /// Reads and decodes the next rank. False after the last rank.
    bool next(RankSchedule& rank);

  private:
    void check_header();
    void read_footer();
    void check_table();
    idg::Entry entry(std::uint32_t rank);
    void check_totals() const;
    [[noreturn]] void fail(std::uint64_t byte, const std::string& what) const;

    const InputFile& file_;
    FileWindow table_;
    FileWindow body_;
    idg::Footer footer_;
    std::vector<std::uint64_t> words_;
    std::uint32_t read_ = 0;                  ///< number of ranks read
    std::uint64_t begin_ = idg::header_size;  ///< offset of the next block
    std::uint64_t ops_ = 0;                   ///< number of ops read
    std::uint8_t highest_cpu_ = 0;
    std::uint8_t highest_nic_ = 0;
};

}  // namespace idlewave::goal
