#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace idlewave::pdes {

/// How partitions go ahead of what is certain.
enum class Advance : std::uint8_t {
    conservative,  ///< not at all (YAWNS)
    optimistic,    ///< and back, where that was too early (Time Warp)
};

/// How the partitions of a run go on.
struct Manner {
    Advance advance = Advance::optimistic;
    Time cell = 1;       ///< how long a cell is at most, > 0; where there is a lookahead, not longer than that
    bool lazy = false;   ///< what was sent is taken back only once it is not sent again (lazy cancellation)
    bool check = false;  ///< every visit is made, undone, compared and made again
    Time from = 0;       ///< what is before that is done, and was kept
    /// After so many events all pause if one partition has had far more of them than others; 0: never.
    std::uint64_t pause_if_uneven_after = 0;
    /// How far more: the busiest partition's share of all events, as a multiple of an even share; 0: in any case.
    double uneven = 1.2;
    bool counts_who_tells_whom = false;
    /// How much memory a partition's log may take, as long as it can wait for visits to be committed instead.
    std::size_t log_bytes = std::size_t{1} << 32;
};

}  // namespace idlewave::pdes
