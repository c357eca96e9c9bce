#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "goal/listing.hpp"
#include "goal/rank_block.hpp"

namespace idlewave {

/// Makes the block of one rank after the other (RankBlock); keeps its memory for the next.
class RankEncoder {
  public:
    /// The block, valid until the next call. Requirements must name ops of the listing. Throws InputError if the rank
    /// has more than 2^25 kinds of messages, or dependencies or labels of more than 4 GB.
    std::span<const std::uint64_t> encode(const Listing& listing);

  private:
    void sort(const std::vector<Requirement>& requirements);
    void find_waits(const Listing& listing);
    void put_ops(const Listing& listing);
    void put_links(Place count);
    void put_labels(const Labels& labels);
    [[nodiscard]] std::uint64_t payload(const Op& op);
    [[nodiscard]] std::uint64_t shape_of(const Shape& shape);
    void grow_shape_table();
    void append(std::span<const std::byte> first, std::span<const std::byte> second);

    std::vector<std::uint64_t> words_;
    std::vector<Requirement> sorted_;  ///< by what they wait for; without those that a word says by itself
    std::vector<std::uint32_t> counts_;
    std::vector<op_word::Waits> waits_;
    std::vector<Shape> shapes_;
    std::vector<std::uint32_t> shape_table_;  ///< a hash table of 1 + index into shapes_; used when there are many
    std::vector<std::uint32_t> index_;
    std::vector<std::uint8_t> stream_;
};

}  // namespace idlewave
