#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "extrapolation/comparison.hpp"
#include "extrapolation/found_law.hpp"
#include "extrapolation/structure_search.hpp"

namespace idlewave::extrapolation {

/// Continues the sizes of messages and collectives on a grid.
class ContinuedSizes {
  public:
    ContinuedSizes(const FoundStructure& found, const ProcessGrid& grid);

    /// The bytes of a call on the grid. Throws an InputError if they follow no law.
    Sizes of(const PlannedCall& call);

    /// The laws of all calls so far.
    [[nodiscard]] std::vector<FoundLaw> laws() const;

  private:
    /// The calls of a site with the same sizes in the runs share a law: the site, which of its sizes, and the runs with
    /// the sums of their sizes.
    using Key = std::tuple<std::uint32_t, std::size_t, std::vector<std::pair<std::size_t, double>>>;

    [[nodiscard]] bool some_follow_surface() const;
    std::uint64_t size(const PlannedCall& call, std::size_t which);
    double ratio_of(const Series& series, std::uint32_t first, std::size_t which) const;
    const FoundLaw& law_of(std::uint32_t item, std::size_t which);
    const FoundLaw& new_law_of(std::uint32_t item, std::size_t which);
    [[nodiscard]] std::optional<std::uint8_t> dimension_of(std::uint32_t item) const;

    const FoundStructure& found_;
    ProcessGrid grid_;
    std::vector<const FoundLaw*> of_items_;  ///< three for each
    bool some_follow_surface_;
    std::map<Key, FoundLaw> laws_;
};

}  // namespace idlewave::extrapolation
