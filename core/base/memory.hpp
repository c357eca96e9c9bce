#pragma once

#include <cstdint>

namespace idlewave {

/// The peak resident memory of this process in bytes; 0 if it is not known. It is read from /proc: getrusage may return
/// the peak of the process that started this one.
std::uint64_t peak_memory();

}  // namespace idlewave
