#pragma once

#include <cstddef>
#include <cstdint>
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

/// Maps signed numbers to unsigned ones, small to small: 0, -1, 1, -2, … become 0, 1, 2, 3, …
inline std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace idlewave
