#include "base/crc32c.hpp"

#include <array>

#include "base/bytes.hpp"

namespace idlewave {
namespace {

constexpr std::size_t slices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, slices>;

/// `tables[k][b]` is the contribution of byte b to the CRC when k bytes follow it ("slicing by 8").
constexpr Tables make_tables() {
    constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
        }
        tables[0][byte] = crc;
    }
    for (std::size_t k = 1; k < slices; ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t crc = tables[k - 1][byte];
            tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
        }
    }
    return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
    std::uint32_t crc = ~before;
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= slices; left -= slices, at += slices) {
        const std::uint64_t eight = load<std::uint64_t>(at) ^ crc;
        crc = 0;
        for (std::size_t k = 0; k < slices; ++k) {
            crc ^= tables[slices - 1 - k][(eight >> (8 * k)) & 0xff];
        }
    }
    for (; left > 0; --left, ++at) {
        crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<std::uint8_t>(*at)) & 0xff];
    }
    return ~crc;
}

}  // namespace idlewave
