#pragma once

#include <cstdint>
#include <cstdlib>

namespace idlewave::testing {

/// How many random cases a test tries: a twentieth of `all` in each run, as they are slow under the sanitizers; all of
/// them where the environment has IDLEWAVE_LONG (make test-long).
inline std::uint64_t trials(std::uint64_t all) {
    return std::getenv("IDLEWAVE_LONG") != nullptr ? all : (all + 19) / 20;
}

/// Of cases that are few, or of which each is another one, a run tries each `nth`; make test-long all.
inline std::uint64_t stride(std::uint64_t nth) {
    return trials(2) == 2 ? 1 : nth;
}

}  // namespace idlewave::testing
