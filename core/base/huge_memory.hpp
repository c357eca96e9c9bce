#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace idlewave {

/// Memory for large arrays, in huge pages where the system provides them: random access to gigabytes in small pages
/// spends most of its time on address translation. Untouched pages of large memory use none.
struct HugeMemoryRelease {
    std::size_t bytes = 0;
    void operator()(std::byte* memory) const;
};
using HugeMemory = std::unique_ptr<std::byte, HugeMemoryRelease>;

/// Of which pages large memory consists. The first access to a huge page clears 2 MiB: for an array of which most
/// programs use a few values, that takes longer than the use.
enum class Pages : std::uint8_t { huge, small };

/// What memory contains at first.
enum class Content : std::uint8_t { zeros, undefined };

/// Allocates memory. From `smallest_huge_memory` bytes on it consists of whole huge pages of 2 MiB, each of which takes
/// one page fault instead of 512, unless small ones are asked for. Less comes from the heap, whose pages the next run
/// in the process uses again. Throws std::bad_alloc.
inline constexpr std::size_t smallest_huge_memory = std::size_t{1} << 20;
HugeMemory huge_memory(std::size_t bytes, Pages pages = Pages::huge, Content content = Content::zeros);

/// An array of `count` values whose bytes are all zero; zero bytes must be a valid T.
template <class T>
class HugeArray {
  public:
    HugeArray() = default;
    explicit HugeArray(std::size_t count, Pages pages = Pages::huge)
        : memory_(huge_memory(count * sizeof(T), pages)), size_(count) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    T* data() { return reinterpret_cast<T*>(memory_.get()); }
    [[nodiscard]] const T* data() const { return reinterpret_cast<const T*>(memory_.get()); }
    T& operator[](std::size_t i) { return data()[i]; }
    const T& operator[](std::size_t i) const { return data()[i]; }

  private:
    HugeMemory memory_;
    std::size_t size_ = 0;
};

}  // namespace idlewave
