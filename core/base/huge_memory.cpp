#include "base/huge_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

namespace idlewave {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

std::byte* map(std::size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    return static_cast<std::byte*>(memory);
}

/// A mapping that begins at a huge page.
std::byte* map_aligned(std::size_t bytes) {
    std::byte* const memory = map(bytes + huge_page);
    const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(memory) % huge_page) % huge_page;
    if (before > 0) {
        ::munmap(memory, before);
    }
    // Mappings end at a page.
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t kept = before + (bytes + page - 1) / page * page;
    if (kept < bytes + huge_page) {
        ::munmap(memory + kept, bytes + huge_page - kept);
    }
    return memory + before;
}

}  // namespace

void HugeMemoryRelease::operator()(std::byte* memory) const {
    ::munmap(memory, bytes);
}

HugeMemory huge_memory(std::size_t bytes) {
    if (bytes == 0) {
        return {};
    }
    std::byte* const memory = bytes < huge_page ? map(bytes) : map_aligned(bytes);
#ifdef MADV_HUGEPAGE
    // A wish: where it is refused, small pages do.
    ::madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return {memory, HugeMemoryRelease{bytes}};
}

}  // namespace idlewave
