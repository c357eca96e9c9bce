// The system's page of memory.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace idlewave {

inline std::size_t page_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace idlewave
