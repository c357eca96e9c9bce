#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "goal/labels.hpp"

namespace idlewave::goal {

/// Finds the ops of one rank by their labels. As long as the labels are numbered, as tools write them, the label itself
/// contains the op index; otherwise a hash table is used.
class LabelTable {
  public:
    /// Begins a rank. `labels` must be empty, and live until the next `begin`.
    void begin(const Labels& labels);

    /// Call it after each `labels.add`. Of two equal labels the first one counts, as in LogGOPSim.
    void added();

    [[nodiscard]] std::optional<OpIndex> find(std::string_view label) const;

  private:
    void insert(OpIndex op_index);
    void grow();
    [[nodiscard]] std::size_t slot_of(std::string_view label) const;
    [[nodiscard]] std::string_view text(OpIndex op_index) const;

    const Labels* labels_ = nullptr;
    OpIndex inserted_ = 0;  ///< number of ops that the table takes account of
    std::uint64_t used_ = 0;
    std::vector<std::uint32_t> slots_;  ///< 1 + op_index
};

}  // namespace idlewave::goal
