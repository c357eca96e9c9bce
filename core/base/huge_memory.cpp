#include "base/huge_memory.hpp"

#include <sys/mman.h>

#include <new>

namespace idlewave {

void HugeMemoryRelease::operator()(std::byte* memory) const {
    ::munmap(memory, bytes);
}

HugeMemory huge_memory(std::size_t bytes) {
    if (bytes == 0) {
        return {};
    }
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
#ifdef MADV_HUGEPAGE
    // A wish: where it is refused, small pages do.
    ::madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return {static_cast<std::byte*>(memory), HugeMemoryRelease{bytes}};
}

}  // namespace idlewave
