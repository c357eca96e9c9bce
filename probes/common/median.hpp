// The median of some values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace idlewave::probe {

// The median; of an even number of values the upper of the two in the middle, of none 0.
inline double upper_median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace idlewave::probe
