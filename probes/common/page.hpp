// The system's pages of memory.
#pragma once

#include <sys/mman.h>
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

// Makes the kernel map `bytes` bytes of whole pages, at once and not by a page fault each. Returns whether it did:
// Linux before 5.14 cannot.
inline bool map_at_once([[maybe_unused]] char* pages, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    return madvise(pages, bytes, MADV_POPULATE_WRITE) == 0;
#else
    return false;
#endif
}

// Allocates whole pages, which are mapped, so that no page fault occurs in a sample. Throws std::bad_alloc.
inline PageMemory new_pages(std::size_t bytes) {
    const std::size_t whole = whole_pages(bytes);
    PageMemory memory(static_cast<char*>(std::aligned_alloc(page_size(), whole)));
    if (!memory) throw std::bad_alloc();
    if (!map_at_once(memory.get(), whole)) std::memset(memory.get(), 1, whole);
    return memory;
}

// A buffer at the place in its page that large buffers of programs have: behind the header of a mapped chunk of glibc.
// The place decides how long a copy takes: to or from a place a few bytes further on in another page, loads wait for
// stores that only look like those to the same place, and the copy takes up to three times as long. A buffer of the C
// library may lie anywhere once memory was freed.
class ProgramBuffer {
  public:
    explicit ProgramBuffer(std::size_t bytes) : memory_(new_pages(bytes + header)) {}

    [[nodiscard]] char* data() const { return memory_.get() + header; }

  private:
    static constexpr std::size_t header = 16;

    PageMemory memory_;
};

}  // namespace idlewave::probe
