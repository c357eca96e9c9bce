#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Idlewave's binary schedules (.idg): a header, a block for each rank (RankBlock), a table of the blocks, and a
/// footer. docs/goal-format.md describes the layout.
namespace idlewave::goal::idg {

inline constexpr std::uint32_t version = 3;
inline constexpr std::uint32_t oldest_version =
    2;  ///< that is read: it has no one-sided ops, and differs in nothing else

using MagicNumber = std::array<char, 8>;

/// As in PNG: a program that transfers the file as text changes these bytes.
inline constexpr MagicNumber magic = {'\x89', 'I', 'D', 'G', '\r', '\n', '\x1a', '\n'};
inline constexpr MagicNumber end_magic = {'I', 'D', 'G', ' ', 'e', 'n', 'd', '\n'};

inline constexpr std::uint64_t header_size = 16;  ///< magic, version, CRC
inline constexpr std::uint64_t footer_size = 40;

/// The entry of a rank in the table.
struct Entry {
    std::uint64_t begin = 0;  ///< offset of the rank's block in the file; it ends where the next one begins
    std::uint32_t crc = 0;    ///< of the block
    std::uint32_t unused = 0;
};
static_assert(sizeof(Entry) == 16);

/// The footer, at the end of the file.
struct Footer {
    std::uint64_t table = 0;  ///< offset of the table, where the last block ends
    std::uint64_t ops = 0;    ///< of all ranks
    std::uint32_t ranks = 0;
    std::uint8_t highest_cpu = 0;
    std::uint8_t highest_nic = 0;
    std::uint16_t unused = 0;
    std::uint32_t table_crc = 0;
    std::uint32_t crc = 0;  ///< of the footer's bytes before it
    MagicNumber magic = end_magic;
};
static_assert(sizeof(Footer) == footer_size);
inline constexpr std::size_t footer_checksummed = 28;  ///< number of bytes that the footer's checksum covers

}  // namespace idlewave::goal::idg
