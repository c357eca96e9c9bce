#include "base/huge_memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace idlewave {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

/// The size of the mapping for `bytes` bytes.
std::size_t mapped(std::size_t bytes) {
    return bytes < smallest_huge_memory ? bytes : (bytes + huge_page - 1) / huge_page * huge_page;
}

std::byte* map(std::size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    return static_cast<std::byte*>(memory);
}

/// A mapping of whole huge pages.
std::byte* map_aligned(std::size_t bytes) {
    std::byte* const memory = map(bytes + huge_page);
    const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(memory) % huge_page) % huge_page;
    if (before > 0) {
        ::munmap(memory, before);
    }
    ::munmap(memory + before + bytes, huge_page - before);
    return memory + before;
}

}  // namespace

void HugeMemoryRelease::operator()(std::byte* memory) const {
    ::munmap(memory, mapped(bytes));
}

HugeMemory huge_memory(std::size_t bytes) {
    if (bytes == 0) {
        return {};
    }
    if (bytes > static_cast<std::size_t>(-1) / 2) {
        throw std::bad_alloc();
    }
    const bool huge = bytes >= smallest_huge_memory;
    std::byte* const memory = huge ? map_aligned(mapped(bytes)) : map(bytes);
#ifdef MADV_HUGEPAGE
    if (huge) {
        ::madvise(memory, mapped(bytes), MADV_HUGEPAGE);  // a request: if the system refuses it, small pages are used
    }
#endif
    return {memory, HugeMemoryRelease{bytes}};
}

}  // namespace idlewave
