#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/huge_memory.hpp"

namespace idlewave {

/// A pool of values, each identified by a number while it is in use. Numbers are reused, the last removed first; 0 is
/// never used. The address of a value never changes. `remove` calls no destructor: the next user of the number gets the
/// value, and the memory it owns, as it was.
template <class T>
class Slab {
  public:
    Slab() = default;
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;
    Slab(Slab&&) = delete;
    Slab& operator=(Slab&&) = delete;

    ~Slab() {
        for (T* values : pieces_) {
            std::destroy_n(values, piece);
        }
    }

    std::uint32_t add() {
        if (unused_count_ == 0) [[unlikely]] {
            grow();
        }
        return unused_[--unused_count_];
    }

    void remove(std::uint32_t number) { unused_[unused_count_++] = number; }

    /// Whether there is memory for that number, in use or not.
    [[nodiscard]] bool has(std::uint32_t number) const { return number / piece < pieces_.size(); }

    T& operator[](std::uint32_t number) { return pieces_[number / piece][number % piece]; }
    const T& operator[](std::uint32_t number) const { return pieces_[number / piece][number % piece]; }

    /// Brings a value into the cache. (Always inline: a compiler may drop the call of a function without effect.)
    [[gnu::always_inline]] void prefetch(std::uint32_t number) const {
        if (number != 0) {
            const char* value = reinterpret_cast<const char*>(&(*this)[number]);
            __builtin_prefetch(value, 1);
            if constexpr (sizeof(T) > alignof(T)) {
                __builtin_prefetch(value + sizeof(T) - 1, 1);
            }
        }
    }

    /// Calls `use` with every value that has memory, in use or not.
    template <class Use>
    void each(Use use) const {
        for (const T* values : pieces_) {
            std::for_each_n(values, piece, use);
        }
    }

  private:
    static constexpr std::uint32_t piece = 1024;

    /// Grows by little at first, then by whole huge pages: values are accessed in no particular order.
    [[gnu::noinline]] void grow() {
        constexpr std::size_t few = 4;
        constexpr std::size_t many = 32;
        const std::size_t more = pieces_.size() < few ? 1 : many;
        memory_.push_back(huge_memory(more * piece * sizeof(T)));
        T* values = reinterpret_cast<T*>(memory_.back().get());
        const auto first = static_cast<std::uint32_t>(pieces_.size()) * piece;
        const auto end = first + static_cast<std::uint32_t>(more) * piece;
        unused_.resize(end);
        for (std::size_t i = 0; i < more; ++i, values += piece) {
            std::uninitialized_value_construct_n(values, piece);
            pieces_.push_back(values);
        }
        for (std::uint32_t i = end; i-- > (first == 0 ? 1U : first);) {
            unused_[unused_count_++] = i;
        }
    }

    std::vector<HugeMemory> memory_;
    std::vector<T*> pieces_;
    std::vector<std::uint32_t> unused_;  ///< as long as there are numbers; the first `unused_count_` are unused numbers
    std::size_t unused_count_ = 0;
};

}  // namespace idlewave
