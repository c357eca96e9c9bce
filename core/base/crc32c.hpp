#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace idlewave {

/// CRC-32C (Castagnoli; the one of iSCSI, RFC 3720, B.4) of `bytes`. To go on from earlier bytes, give their CRC.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace idlewave
