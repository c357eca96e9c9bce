#pragma once

#include <cstdint>
#include <memory>

namespace idlewave {

/// A set of bits whose number is given to `clear`. Up to 64 bits lie in the object itself; more take memory.
class BitSet {
  public:
    /// Sets the number of bits to `size` and all bits to 0.
    void clear(std::uint64_t size) {
        first_ = 0;
        more_ = size > 64 ? std::make_unique<std::uint64_t[]>((size - 1) / 64) : nullptr;
    }

    [[nodiscard]] bool test(std::uint64_t bit) const {
        const std::uint64_t word = bit < 64 ? first_ : more_[bit / 64 - 1];
        return ((word >> bit % 64) & 1) != 0;
    }

    void set(std::uint64_t bit) {
        std::uint64_t& word = bit < 64 ? first_ : more_[bit / 64 - 1];
        word |= std::uint64_t{1} << bit % 64;
    }

    /// Passes the `size` bits to an archive.
    template <class Archive>
    void serialise(Archive& archive, std::uint64_t size) {
        if constexpr (Archive::is_loading) {
            clear(size);
        }
        archive(first_);
        for (std::uint64_t word = 1; 64 * word < size; ++word) {
            archive(more_[word - 1]);
        }
    }

  private:
    std::uint64_t first_ = 0;
    std::unique_ptr<std::uint64_t[]> more_;
};

}  // namespace idlewave
