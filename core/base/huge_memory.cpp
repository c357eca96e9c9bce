#include "base/huge_memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace idlewave {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t page = 4096;
constexpr std::size_t line = 64;

/// The size of the mapping for `bytes` bytes.
std::size_t mapped(std::size_t bytes) {
    return (bytes + huge_page - 1) / huge_page * huge_page;
}

/// Memory from the heap, aligned to pages if it has as much as one, else to lines of the cache.
std::byte* allocate(std::size_t bytes, Content content) {
    const std::size_t alignment = bytes < page ? line : page;
    const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, whole);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    if (content == Content::zeros) {
        std::memset(memory, 0, whole);
    }
    return static_cast<std::byte*>(memory);
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
    if (bytes < smallest_huge_memory) {
        std::free(memory);
    } else {
        ::munmap(memory, mapped(bytes));
    }
}

HugeMemory huge_memory(std::size_t bytes, Pages pages, Content content) {
    if (bytes == 0) {
        return {};
    }
    if (bytes > static_cast<std::size_t>(-1) / 2) {
        throw std::bad_alloc();
    }
    const HugeMemoryRelease release{bytes};
    if (bytes < smallest_huge_memory) {
        return {allocate(bytes, content), release};
    }
    if (pages == Pages::small) {
        std::byte* const small = map(mapped(bytes));
#ifdef MADV_NOHUGEPAGE
        ::madvise(small, mapped(bytes), MADV_NOHUGEPAGE);
#endif
        return {small, release};
    }
    std::byte* const memory = map_aligned(mapped(bytes));
#ifdef MADV_HUGEPAGE
    ::madvise(memory, mapped(bytes), MADV_HUGEPAGE);  // a request: if the system refuses it, small pages are used
#endif
    return {memory, release};
}

}  // namespace idlewave
