// The system's pages of memory.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace idlewave::probe {

inline std::size_t page_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// `bytes`, rounded up to whole pages.
inline std::size_t whole_pages(std::size_t bytes) {
    return (bytes + page_size() - 1) / page_size() * page_size();
}

struct FreePages {
    void operator()(char* memory) const { std::free(memory); }
};
using PageMemory = std::unique_ptr<char, FreePages>;

// Allocates whole pages and writes to them, so that no page fault occurs in a sample. Buffers between which data are
// copied then begin at one place of their pages, as those of large allocations do: a few bytes apart, each load of a
// copy would wait for a store that only looks like one to the same place. Throws std::bad_alloc.
inline PageMemory new_pages(std::size_t bytes) {
    PageMemory memory(static_cast<char*>(std::aligned_alloc(page_size(), whole_pages(bytes))));
    if (!memory) throw std::bad_alloc();
    std::memset(memory.get(), 1, whole_pages(bytes));
    return memory;
}

}  // namespace idlewave::probe
