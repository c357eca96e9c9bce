#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/input_file.hpp"
#include "goal/listing.hpp"

namespace idlewave {

/// Reads LogGOPSim's binary schedules, rank by rank, and believes nothing in them: counts and offsets must fit the
/// file, ops must be sound, and requirements and roots be those that the lists of followers amount to. Errors are
/// InputErrors `file: byte …, rank …, op …: expected …, found …`.
class GoalBinaryReader {
  public:
    /// The file must be regular, and live as long.
    explicit GoalBinaryReader(const InputFile& file);

    [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

    /// Reads the next rank. False if there are no more.
    bool next(Listing& rank);

    /// From now on `next` remembers what it has read, for `next_like_last`.
    void keep_last() { keeps_last_ = true; }

    /// Reads the next rank if it differs from the last that `next` has read in its peers alone: they are one an op, 0
    /// of a calc. False if it does not, or is unsound, of which `next` will tell.
    bool next_like_last(std::vector<std::uint32_t>& peers);

  private:
    /// One rank in the file, cut into its parts.
    struct Part {
        std::uint64_t begin = 0;  ///< in the file
        std::span<const std::byte> bytes;
        std::uint32_t nodes = 0;
        std::uint32_t roots = 0;
        std::uint64_t nodes_begin = 0;     ///< in the part
        std::uint64_t appendix_begin = 0;  ///< in the part
        std::uint64_t appendix_size = 0;   ///< entries

        [[nodiscard]] const std::byte* node(Place place) const;
    };

    Part part();
    void done(const Part& part);
    [[nodiscard]] bool is_like_last(const Part& part) const;
    [[nodiscard]] bool is_sound(OpKind kind, std::uint32_t peer) const;
    void read(const Part& part, Place place, Op& op) const;
    void followers(const Part& part, Place place, Edge edge, std::vector<Requirement>& requirements);
    void check_waiting(const Part& part);
    [[noreturn]] void fail(std::uint64_t byte, const std::string& expected, std::uint64_t found) const;
    [[noreturn]] void fail(const Part& part, Place place, std::size_t field, const std::string& expected,
                           std::uint64_t found) const;

    const InputFile& file_;
    FileWindow table_;
    FileWindow body_;
    std::uint32_t ranks_ = 0;
    std::uint8_t highest_cpu_ = 0;
    std::uint8_t highest_nic_ = 0;
    std::uint32_t read_ = 0;        ///< ranks
    std::uint64_t bytes_read_ = 0;  ///< of ranks
    bool keeps_last_ = false;
    Part last_;  ///< what `next` has read last, its bytes in last_bytes_; none if it is not kept
    std::vector<std::byte> last_bytes_;
    std::uint64_t listed_ = 0;          ///< followers of this rank
    std::vector<std::uint32_t> waits_;  ///< requirements found, per op of this rank
};

}  // namespace idlewave
