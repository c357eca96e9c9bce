#pragma once

#include <cstddef>
#include <memory>

namespace idlewave {

/// Memory for large arrays: zero, and in huge pages where the system gives them, since random access to gigabytes in
/// small pages spends most of its time on translating addresses. Pages that are never touched cost nothing.
struct HugeMemoryRelease {
    std::size_t bytes = 0;
    void operator()(std::byte* memory) const;
};
using HugeMemory = std::unique_ptr<std::byte, HugeMemoryRelease>;

/// From `smallest_huge_memory` bytes on it is whole huge pages of 2 MiB, each of which takes one page fault where small
/// pages take 512. Throws std::bad_alloc.
inline constexpr std::size_t smallest_huge_memory = std::size_t{1} << 20;
HugeMemory huge_memory(std::size_t bytes);

/// `count` values, all zero: for types of which zero bytes are a value.
template <class T>
class HugeArray {
  public:
    HugeArray() = default;
    explicit HugeArray(std::size_t count) : memory_(huge_memory(count * sizeof(T))), size_(count) {}

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
