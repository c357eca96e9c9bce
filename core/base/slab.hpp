#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace idlewave {

/// Values that are known by a number while they live. Numbers are used again, the latest first; 0 is never one. A value
/// stays where it is. What a removed value owns is kept for the next one.
template <class T>
class Slab {
  public:
    std::uint32_t add() {
        if (unused_count_ == 0) [[unlikely]] {
            grow();
        }
        return unused_[--unused_count_];
    }

    void remove(std::uint32_t number) { unused_[unused_count_++] = number; }

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
        for (const auto& values : pieces_) {
            std::for_each_n(values.get(), piece, visit);
        }
    }

  private:
    static constexpr std::uint32_t piece = 1024;

    [[gnu::noinline]] void grow() {
        const auto first = static_cast<std::uint32_t>(pieces_.size()) * piece;
        pieces_.push_back(std::make_unique<T[]>(piece));
        unused_.resize(first + piece);
        for (std::uint32_t i = piece; i-- > (first == 0 ? 1U : 0U);) {
            unused_[unused_count_++] = first + i;
        }
    }

    std::vector<std::unique_ptr<T[]>> pieces_;
    std::vector<std::uint32_t> unused_;  ///< room for all numbers; the first `unused_count_` are unused
    std::size_t unused_count_ = 0;
};

}  // namespace idlewave
