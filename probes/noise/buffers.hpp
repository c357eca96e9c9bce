// The number of rows in a core's buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "common/failure.hpp"

namespace idlewave::probe {

// Bytes of memory that are free for use (MemAvailable).
inline double available_memory() {
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("MemAvailable:", 0) == 0) return 1024 * std::strtod(line.c_str() + 13, nullptr);
    }
    return 4e9;
}

// The number asked for (0: none), or the likely number (0: not known), or a million. The buffers of all cores that are
// recorded at once must fit into half of the free memory; if no number was asked for, they take at most a quarter.
inline std::size_t rows_for(std::size_t asked, double likely, std::size_t row_bytes, std::size_t cores) {
    const double available = available_memory() / static_cast<double>(cores * row_bytes);
    double wanted = asked > 0 ? static_cast<double>(asked) : 1e6;
    if (likely > 0) wanted = asked > 0 ? std::min(wanted, likely) : likely;
    if (asked == 0) return static_cast<std::size_t>(std::max(1.0, std::min(wanted, available / 4)));
    if (wanted <= available / 2) return static_cast<std::size_t>(std::max(1.0, wanted));
    throw refused("--records: " + std::to_string(asked) + " rows of " + std::to_string(row_bytes) +
                  " bytes for each core do not fit into half of the free memory; expected at most " +
                  std::to_string(static_cast<std::int64_t>(available / 2)));
}

}  // namespace idlewave::probe
