#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace idlewave::pdes {

/// What a scheduler knows of an LP.
struct LpRecord {
    std::uint64_t sequence = 0;  ///< events sent so far
    Time timer = never;          ///< the earliest of its timers that are pending
};

}  // namespace idlewave::pdes
