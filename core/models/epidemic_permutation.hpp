#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace idlewave::models {

/// A pseudo-random permutation of [0, size) that takes no memory: a Feistel network of four rounds (M. Luby, C.
/// Rackoff: How to construct pseudorandom permutations, SIAM J. Comput. 17(2), 1988) over the next power of four. It is
/// applied again until the result is below `size` (cycle walking; J. Black, P. Rogaway: Ciphers with arbitrary finite
/// domains, CT-RSA 2002): less than four times on average. `size` > 0; the same key gives the same permutation.
class Permutation {
  public:
    Permutation(std::uint32_t size, std::uint64_t key)
        : size_(size), key_(key), half_((std::max(2U, static_cast<unsigned>(std::bit_width(size - 1))) + 1) / 2) {}

    [[nodiscard]] std::uint32_t forward(std::uint32_t x) const {
        do {
            x = join(rounds(split(x), 0, +1));
        } while (x >= size_);
        return x;
    }

    /// The inverse of `forward`.
    [[nodiscard]] std::uint32_t backward(std::uint32_t y) const {
        do {
            const Halves swapped = rounds(swap(split(y)), last_round, -1);
            y = join(swap(swapped));
        } while (y >= size_);
        return y;
    }

  private:
    static constexpr int last_round = 3;

    struct Halves {
        std::uint32_t left;
        std::uint32_t right;
    };

    /// All rounds; in reverse order, with halves swapped, they are the inverse.
    [[nodiscard]] Halves rounds(Halves halves, int first, int step) const {
        for (int i = 0, round = first; i <= last_round; ++i, round += step) {
            halves = {halves.right, halves.left ^ mixed(halves.right, round)};
        }
        return halves;
    }

    /// `half_` bits that depend on all bits of the key and of `x`: the finalizer of SplitMix64 (G. L. Steele, D. Lea,
    /// C. H. Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
    [[nodiscard]] std::uint32_t mixed(std::uint32_t x, int round) const {
        std::uint64_t z = key_ + x + (static_cast<std::uint64_t>(round + 1) << 32);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return static_cast<std::uint32_t>((z ^ (z >> 31)) >> (64 - half_));
    }

    [[nodiscard]] Halves split(std::uint32_t x) const { return {x >> half_, x & ((1U << half_) - 1)}; }
    [[nodiscard]] std::uint32_t join(Halves halves) const { return halves.left << half_ | halves.right; }
    [[nodiscard]] static Halves swap(Halves halves) { return {halves.right, halves.left}; }

    std::uint32_t size_;
    std::uint64_t key_;
    unsigned half_;  ///< number of bits of a half
};

}  // namespace idlewave::models
