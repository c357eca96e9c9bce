#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/huge_memory.hpp"

namespace idlewave {

/// Values that are known by a number while they live. Numbers are used again, the latest first; 0 is never one. A value
/// stays where it is. What a removed value owns is kept for the next one.
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

    /// Whether there is room for that number, whether the value lives or not.
    [[nodiscard]] bool has(std::uint32_t number) const { return number / piece < pieces_.size(); }

    T& operator[](std::uint32_t number) { return pieces_[number / piece][number % piece]; }
    const T& operator[](std::uint32_t number) const { return pieces_[number / piece][number % piece]; }

    /// Bring a value into the cache. (Inline always: a compiler that sees no effect leaves a call out.)
    [[gnu::always_inline]] void prefetch(std::uint32_t number) const {
        if (number != 0) {
            const char* value = reinterpret_cast<const char*>(&(*this)[number]);
            __builtin_prefetch(value, 1);
            if constexpr (sizeof(T) > alignof(T)) {
                __builtin_prefetch(value + sizeof(T) - 1, 1);
            }
        }
    }

    /// Calls `visit` with every value there is room for, whether it lives or not.
    template <class Visit>
    void each(Visit visit) const {
        for (const T* values : pieces_) {
            std::for_each_n(values, piece, visit);
        }
    }

  private:
    static constexpr std::uint32_t piece = 1024;

    /// Small at first; then as much as makes whole huge pages, since values are used in no order.
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
    std::vector<std::uint32_t> unused_;  ///< room for all numbers; the first `unused_count_` are unused
    std::size_t unused_count_ = 0;
};

}  // namespace idlewave
