#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "goal/labels.hpp"

namespace idlewave {

/// Finds the ops of one rank by their labels. As long as they are numbered, as tools write them, a label says its place
/// itself; otherwise it is a hash table.
class LabelTable {
  public:
    /// Begins a rank. `labels`, which are still empty, must live until the next one.
    void begin(const Labels& labels);

    /// An op was added to the labels, with a label or without. Of two equal labels the first holds, as in LogGOPSim.
    void added();

    [[nodiscard]] std::optional<Place> find(std::string_view label) const;

  private:
    void insert(Place place);
    void grow();
    [[nodiscard]] std::size_t slot_of(std::string_view label) const;
    [[nodiscard]] std::string_view text(Place place) const;

    const Labels* labels_ = nullptr;
    Place inserted_ = 0;  ///< so many ops have been looked at for the table
    std::uint64_t used_ = 0;
    std::vector<std::uint32_t> slots_;  ///< 1 + place
};

}  // namespace idlewave
