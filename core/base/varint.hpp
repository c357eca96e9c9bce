#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace idlewave {

/// Appends a whole number in as few bytes as it needs (LEB128): seven bits a byte, the lowest first; the eighth bit
/// says that more bytes follow.
inline void put_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        out.push_back(static_cast<std::uint8_t>(value | 0x80));
    }
    out.push_back(static_cast<std::uint8_t>(value));
}

/// Reads a number and moves `at` behind it; the bytes must be valid.
inline std::uint64_t take_varint(const std::uint8_t*& at) {
    std::uint64_t value = *at & 0x7f;
    for (unsigned shift = 7; (*at++ & 0x80) != 0; shift += 7) {
        value |= std::uint64_t{*at & 0x7fU} << shift;
    }
    return value;
}

/// The same for bytes that may be invalid: false if the number is longer than five bytes (35 bits) or does not end
/// before `end`.
inline bool take_varint(const std::uint8_t*& at, const std::uint8_t* end, std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 35 && at != end; shift += 7) {
        const std::uint8_t byte = *at++;
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if ((byte & 0x80) == 0) {
            return true;
        }
    }
    return false;
}

/// Appends a whole number in at most as many bytes, in another code: the zeros at the low end of the first byte say how
/// many bytes follow it, and a one ends them. It is decoded without a branch on the length, which cannot be predicted
/// where numbers of all sizes follow one another.
inline void put_prefix_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
    constexpr unsigned most_bits = 56;  // in eight bytes; a longer number is behind a byte of zeros
    const auto bits = static_cast<unsigned>(std::bit_width(value | 1));
    const unsigned bytes = bits > most_bits ? 8 : (bits + 6) / 7;
    if (bits > most_bits) {
        out.push_back(0);
    } else {
        value = value << bytes | std::uint64_t{1} << (bytes - 1);
    }
    for (unsigned i = 0; i < bytes; ++i) {
        out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    }
}

/// The bytes from a number's first one on that `take_prefix_varint` may read.
inline constexpr std::size_t prefix_varint_reads = 9;

/// Reads a number and moves `at` behind it; the bytes must be valid, and be followed by others up to
/// `prefix_varint_reads`.
[[gnu::always_inline]] inline std::uint64_t take_prefix_varint(const std::uint8_t*& at) {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    if ((value & 0xff) == 0) [[unlikely]] {
        std::memcpy(&value, at + 1, sizeof value);
        at += prefix_varint_reads;
        return value;
    }
    const int bytes = std::countr_zero(value) + 1;
    at += bytes;
    const int unused_bits = 64 - 8 * bytes;
    return value << unused_bits >> (unused_bits + bytes);
}

/// Maps signed numbers to unsigned ones, small to small: 0, -1, 1, -2, … become 0, 1, 2, 3, …
inline std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace idlewave
