#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/input_file.hpp"
#include "goal/idg.hpp"
#include "goal/listing.hpp"

namespace idlewave {

/// Reads Idlewave's binary schedules, rank by rank, and believes nothing in them: checksums tell what was damaged, and
/// every block is checked besides. Errors are InputErrors `file: byte …, rank …: expected …, found …`.
class IdgReader {
  public:
    /// The file must be regular, and live as long.
    explicit IdgReader(const InputFile& file);

    [[nodiscard]] std::uint32_t ranks() const { return footer_.ranks; }

    /// Reads the next rank, a sound block, valid until the next call. Empty if there are no more.
    std::span<const std::uint64_t> next_block();

    /// Reads the next rank and writes it out. False if there are no more.
    bool next(Listing& rank);

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
    std::uint32_t read_ = 0;                  ///< ranks
    std::uint64_t begin_ = idg::header_size;  ///< of the next block
    std::uint64_t ops_ = 0;                   ///< so far
    std::uint8_t highest_cpu_ = 0;
    std::uint8_t highest_nic_ = 0;
};

}  // namespace idlewave
