#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace idlewave::machine {

/// The leading lines of a text that are plain rows of a file of detours.
struct PlainDetours {
    std::vector<Time> starts;   ///< ps
    std::vector<Time> lengths;  ///< ps
    std::size_t bytes = 0;      ///< length of these lines
};

/// Reads the lines START,LENGTH at the beginning of `text`, up to the first that is not whole or has another form. Both
/// are numbers in ns of at most 15 digits, with at most three decimals. Nearly all rows have this form, and a recording
/// may have millions.
[[nodiscard]] PlainDetours read_plain_detours(std::string_view text);

}  // namespace idlewave::machine
