#pragma once

#include <cstdint>
#include <memory>

namespace idlewave {

/// A bit for each of a number of things that is known when they are counted; up to 64 need no further memory.
class BitSet {
  public:
    /// Makes all of `size` bits 0.
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

    /// Shows its `size` bits to an archive.
    template <class Archive>
    void keep(Archive& archive, std::uint64_t size) {
        if constexpr (Archive::loads) {
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
