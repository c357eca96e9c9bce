#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace idlewave {

/// CRC-32C (Castagnoli; the one of iSCSI, RFC 3720, B.4) of `bytes`. `before` is the CRC of the bytes that come before,
/// if there are any.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace idlewave
