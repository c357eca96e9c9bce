// The sizes of this core's caches.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace idlewave::probe::contention {

// Bytes; 0 where there is none. Where the system does not say, those that most processors have at least.
struct CacheSizes {
    std::size_t l1 = 32 << 10;
    std::size_t l2 = 512 << 10;
    std::size_t l3 = 16 << 20;
    bool known = false;

    [[nodiscard]] std::size_t largest() const { return l3 > 0 ? l3 : l2; }
};

inline CacheSizes cache_sizes() {
    const auto size = [](int name) {
        const long bytes = sysconf(name);
        return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    };
    const CacheSizes found{size(_SC_LEVEL1_DCACHE_SIZE), size(_SC_LEVEL2_CACHE_SIZE), size(_SC_LEVEL3_CACHE_SIZE),
                           true};
    return found.l1 > 0 && found.l2 > 0 ? found : CacheSizes{};
}

}  // namespace idlewave::probe::contention
