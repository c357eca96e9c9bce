#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace idlewave::models {

/// The number of events that an LP has handled, and a digest of them in the order in which they were handled.
struct EventDigest {
    std::uint64_t count = 0;
    std::uint64_t digest = 0;

    /// Adds an event that `word` describes.
    void add(std::uint64_t word) {
        ++count;
        digest = (digest ^ word) * 0x9e3779b97f4a7c15U;
        digest ^= digest >> 32;
    }

    /// What the LP adds to the digest of a run.
    [[nodiscard]] std::uint64_t of_lp(std::uint32_t lp) const { return philox({lp, digest, count, 0}, {0, 0})[0]; }
};

}  // namespace idlewave::models
