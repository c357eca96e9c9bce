#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "goal/rank_block.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::goal {

/// Encodes one rank after the other as a block (RankBlock). It reuses its memory.
class RankEncoder {
  public:
    /// The block, valid until the next call. Requirements must name ops of the schedule. Throws InputError if the rank
    /// has more than 2^25 kinds of messages, or dependencies or labels of more than 4 GB.
    std::span<const std::uint64_t> encode(const RankSchedule& schedule);

  private:
    void sort(const std::vector<Requirement>& requirements);
    void find_requirements(const RankSchedule& schedule);
    void put_ops(const RankSchedule& schedule);
    void put_links(OpIndex count);
    void put_labels(const Labels& labels);
    [[nodiscard]] std::uint64_t payload(const Op& op);
    [[nodiscard]] std::uint64_t shape_of(const Shape& shape);
    void grow_shape_table();
    void append(std::span<const std::byte> first, std::span<const std::byte> second);

    std::vector<std::uint64_t> words_;
    std::vector<Requirement> sorted_;  ///< by predecessor; without those that an op's word holds
    std::vector<std::uint32_t> counts_;
    std::vector<op_word::RequirementKind> waits_;
    std::vector<Shape> shapes_;
    std::vector<std::uint32_t> shape_table_;  ///< hash table of 1 + index into shapes_; empty while there are few
    std::vector<std::uint32_t> index_;
    std::vector<std::uint8_t> stream_;
};

}  // namespace idlewave::goal
