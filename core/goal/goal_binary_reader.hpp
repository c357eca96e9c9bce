#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/input_file.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::goal {

/// Reads LogGOPSim's binary schedules, rank by rank. It trusts nothing: counts and offsets must fit the file, ops must
/// be valid, and the numbers of requirements and the roots must agree with the lists of successors. Errors are
/// InputErrors `file: byte …, rank …, op …: expected …, found …`.
class GoalBinaryReader {
  public:
    /// The file must be regular and outlive the reader.
    explicit GoalBinaryReader(const InputFile& file);

    [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

    /// Reads the next rank. False after the last rank.
    bool next(RankSchedule& rank);

    /// From now on `next` remembers the rank that it has read, for `next_with_other_values`.
    void remember_ranks() { remembers_ = true; }

    /// Reads the values of the next rank, one for each op, if the rank differs in its values only from the rank that
    /// `next` has read last: in the peers of messages, and in the nanoseconds of calcs. False if it differs in more, or
    /// is invalid, which `next` will report.
    bool next_with_other_values(std::vector<std::uint32_t>& values);

  private:
    /// The bytes of one rank in the file.
    struct RankRecord {
        std::uint64_t begin = 0;  ///< offset in the file
        std::span<const std::byte> bytes;
        std::uint32_t nodes = 0;
        std::uint32_t roots = 0;
        std::uint64_t nodes_begin = 0;     ///< offset in the record
        std::uint64_t appendix_begin = 0;  ///< offset in the record
        std::uint64_t appendix_size = 0;   ///< number of entries

        [[nodiscard]] const std::byte* node(OpIndex op_index) const;
    };

    RankRecord next_record();
    void done(const RankRecord& record);
    [[nodiscard]] bool differs_in_values_only(const RankRecord& record) const;
    [[nodiscard]] bool is_sound(OpKind kind, std::uint32_t peer) const;
    void read(const RankRecord& record, OpIndex op_index, Op& op) const;
    void successors(const RankRecord& record, OpIndex op_index, Edge edge, std::vector<Requirement>& requirements);
    void check_requirements(const RankRecord& record);
    [[noreturn]] void fail(std::uint64_t byte, const std::string& expected, std::uint64_t found) const;
    [[noreturn]] void fail(const RankRecord& record, OpIndex op_index, std::size_t field, const std::string& expected,
                           std::uint64_t found) const;

    const InputFile& file_;
    FileWindow table_;
    FileWindow body_;
    std::uint32_t ranks_ = 0;
    std::uint8_t highest_cpu_ = 0;
    std::uint8_t highest_nic_ = 0;
    std::uint32_t read_ = 0;        ///< number of ranks read
    std::uint64_t bytes_read_ = 0;  ///< by these ranks
    bool remembers_ = false;
    RankRecord last_;  ///< the last rank of `next`, its bytes in last_bytes_; empty unless remembers_
    std::vector<std::byte> last_bytes_;
    std::uint64_t successors_ = 0;                   ///< number of successors found in this rank
    std::vector<std::uint32_t> requirement_counts_;  ///< number of requirements found, by op of this rank
};

}  // namespace idlewave::goal
