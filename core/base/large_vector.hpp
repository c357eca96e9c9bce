#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "base/huge_memory.hpp"

namespace idlewave {

/// Allocates large arrays by huge_memory, and small ones by std::allocator.
template <class T>
class LargeAllocator {
  public:
    using value_type = T;

    LargeAllocator() = default;
    template <class U>
    LargeAllocator(const LargeAllocator<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): as allocators do

    [[nodiscard]] T* allocate(std::size_t count) {
        if (count < fewest) {
            return std::allocator<T>{}.allocate(count);
        }
        if (count > static_cast<std::size_t>(-1) / sizeof(T)) {
            throw std::bad_array_new_length();
        }
        return reinterpret_cast<T*>(huge_memory(count * sizeof(T)).release());
    }

    void deallocate(T* values, std::size_t count) {
        if (count < fewest) {
            std::allocator<T>{}.deallocate(values, count);
            return;
        }
        HugeMemoryRelease{count * sizeof(T)}(reinterpret_cast<std::byte*>(values));
    }

    friend bool operator==(const LargeAllocator& /*a*/, const LargeAllocator& /*b*/) { return true; }

  private:
    static constexpr std::size_t fewest = smallest_huge_memory / sizeof(T) + 1;
};

/// A std::vector whose memory is in huge pages once it is large.
template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace idlewave
