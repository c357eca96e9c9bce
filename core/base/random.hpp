#pragma once

#include <array>
#include <cstdint>

namespace idlewave {

/// Philox4x64-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11): a pure
/// function from (counter, key) to 256 random bits, so that a draw belongs to (seed, entity, counter) and to no
/// order of execution.
using Philox = std::array<std::uint64_t, 4>;

inline Philox philox(Philox counter, std::array<std::uint64_t, 2> key) {
    constexpr std::uint64_t multiplier0 = 0xD2E7470EE14C6C93;
    constexpr std::uint64_t multiplier1 = 0xCA5A826395121157;
    constexpr std::uint64_t weyl0 = 0x9E3779B97F4A7C15;
    constexpr std::uint64_t weyl1 = 0xBB67AE8584CAA73B;
    __extension__ using Wide = unsigned __int128;
    for (int round = 0; round < 10; ++round) {
        const Wide product0 = Wide{multiplier0} * counter[0];
        const Wide product1 = Wide{multiplier1} * counter[2];
        counter = {
            static_cast<std::uint64_t>(product1 >> 64) ^ counter[1] ^ key[0], static_cast<std::uint64_t>(product1),
            static_cast<std::uint64_t>(product0 >> 64) ^ counter[3] ^ key[1], static_cast<std::uint64_t>(product0)};
        key[0] += weyl0;
        key[1] += weyl1;
    }
    return counter;
}

/// The purpose of a draw. Streams of one seed are independent.
enum class Stream : std::uint64_t { noise_phase = 1, poisson_detours = 2, model = 3 };

/// Four words of random bits, a pure function of the arguments: draw number `index` of an entity.
inline Philox draws(std::uint64_t seed, Stream stream, std::uint64_t entity, std::uint64_t index) {
    return philox({entity, index, 0, 0}, {seed, static_cast<std::uint64_t>(stream)});
}

/// A number in [0, range) made of 64 random bits; `range` > 0. Multiply-shift: the bias is below range / 2^64.
inline std::uint64_t below(std::uint64_t range, std::uint64_t bits) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{bits} * range) >> 64);
}

/// A number strictly between 0 and 1 made of 64 random bits, of which 53 are used.
inline double between_0_and_1(std::uint64_t bits) {
    return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

/// A number in [0, range), a pure function of its arguments; `range` > 0.
inline std::uint64_t draw(std::uint64_t seed, Stream stream, std::uint64_t entity, std::uint64_t range) {
    return below(range, draws(seed, stream, entity, 0)[0]);
}

}  // namespace idlewave
