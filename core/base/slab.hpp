#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
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
        if constexpr (!std::is_trivially_destructible_v<T>) {
            for (std::uint32_t number = 1; number < made_; ++number) {
                std::destroy_at(&(*this)[number]);
            }
        }
    }

    std::uint32_t add() {
        if (unused_count_ == 0) {
            return make();
        }
        const std::uint32_t number = unused_[--unused_count_];
        if (unused_count_ > 0) {
            prefetch(unused_[unused_count_ - 1]);  // which is probably the next one
        }
        return number;
    }

    void remove(std::uint32_t number) { unused_[unused_count_++] = number; }

    /// How many values are in use.
    [[nodiscard]] std::size_t in_use() const { return made_ - 1 - unused_count_; }
    [[nodiscard]] bool empty() const { return in_use() == 0; }

    /// Whether that number was ever in use.
    [[nodiscard]] bool has(std::uint32_t number) const { return number != 0 && number < made_; }

    T& operator[](std::uint32_t number) { return pieces_[number / piece][number % piece]; }
    const T& operator[](std::uint32_t number) const { return pieces_[number / piece][number % piece]; }

    /// Brings a value into the cache. 0 is allowed, and brings nothing of use: a branch on it could not be predicted.
    /// (Always inline: a compiler may drop the call of a function without effect.)
    [[gnu::always_inline]] void prefetch(std::uint32_t number) const {
        const char* const value =
            reinterpret_cast<const char*>(pieces_[number / piece]) + std::size_t{number % piece} * sizeof(T);
        __builtin_prefetch(value, 1);
        if constexpr (sizeof(T) > alignof(T)) {
            __builtin_prefetch(value + sizeof(T) - 1, 1);
        }
    }

    /// Calls `use` with every value that was ever in use.
    template <class Use>
    void each(Use use) const {
        for (std::uint32_t number = 1; number < made_; ++number) {
            use((*this)[number]);
        }
    }

  private:
    static constexpr std::uint32_t piece = 1024;

    /// Makes a value, as all are in use that were made so far.
    [[gnu::noinline]] std::uint32_t make() {
        if (made_ >= unused_.size()) {
            grow();
        }
        std::construct_at(&(*this)[made_]);
        return made_++;
    }

    /// Grows by little at first, then by whole huge pages: values are accessed in no particular order. The memory is
    /// left as it is: a small simulation uses little of it.
    void grow() {
        constexpr std::size_t few = 4;
        constexpr std::size_t many = 32;
        const std::size_t pieces = unused_.size() / piece;
        const std::size_t more = pieces < few ? 1 : many;
        memory_.push_back(huge_memory(more * piece * sizeof(T), Pages::huge, Content::undefined));
        pieces_.reserve(pieces + more);
        unused_.resize((pieces + more) * piece);
        T* values = reinterpret_cast<T*>(memory_.back().get());
        pieces_.resize(pieces);  // without the slab itself
        for (std::size_t i = 0; i < more; ++i, values += piece) {
            pieces_.push_back(values);
        }
    }

    std::vector<HugeMemory> memory_;
    std::vector<T*> pieces_{reinterpret_cast<T*>(this)};  ///< the slab itself until it has one, for `prefetch` of 0
    std::vector<std::uint32_t> unused_;  ///< room for all numbers; the first `unused_count_` are those removed
    std::size_t unused_count_ = 0;
    std::uint32_t made_ = 1;  ///< the numbers below it were ever in use
};

}  // namespace idlewave
