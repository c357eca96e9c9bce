#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace idlewave {

static_assert(std::endian::native == std::endian::little, "the binary formats are little-endian");

/// Reads a value at `bytes`; the address need not be aligned.
template <class T>
T load(const std::byte* bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    std::memcpy(static_cast<void*>(&value), bytes, sizeof value);
    return value;
}

/// Writes `value` at `bytes`. Returns the address behind it.
template <class T>
std::byte* store(std::byte* bytes, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(bytes, &value, sizeof value);
    return bytes + sizeof value;
}

}  // namespace idlewave
