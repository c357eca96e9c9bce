#pragma once

#include <cstdint>

namespace idlewave {

/// The most memory that this process has had, bytes; 0 where that is not known. Linux says it of the program alone;
/// what getrusage says may be that of the process which started it.
std::uint64_t peak_memory();

}  // namespace idlewave
