#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Idlewave's binary schedules (.idg): a header, a block for each rank (RankBlock), a table of them, a footer.
/// docs/goal-format.md has the layout.
namespace idlewave::idg {

inline constexpr std::uint32_t version = 2;

using Mark = std::array<char, 8>;

/// As PNG's: what takes the file for text changes it.
inline constexpr Mark magic = {'\x89', 'I', 'D', 'G', '\r', '\n', '\x1a', '\n'};
inline constexpr Mark end_magic = {'I', 'D', 'G', ' ', 'e', 'n', 'd', '\n'};

inline constexpr std::uint64_t header_size = 16;  ///< magic, version, CRC
inline constexpr std::uint64_t footer_size = 40;

/// Of a rank, in the table.
struct Entry {
    std::uint64_t begin = 0;  ///< of its block, in the file; it ends where the next one begins
    std::uint32_t crc = 0;    ///< of its block
    std::uint32_t unused = 0;
};
static_assert(sizeof(Entry) == 16);

/// The end of the file.
struct Footer {
    std::uint64_t table = 0;  ///< where the table begins, and the last block ends
    std::uint64_t ops = 0;    ///< of all ranks
    std::uint32_t ranks = 0;
    std::uint8_t highest_cpu = 0;
    std::uint8_t highest_nic = 0;
    std::uint16_t unused = 0;
    std::uint32_t table_crc = 0;
    std::uint32_t crc = 0;  ///< of what is before it in the footer
    Mark magic = end_magic;
};
static_assert(sizeof(Footer) == footer_size);
inline constexpr std::size_t footer_sealed = 28;  ///< so many bytes of it have the checksum

}  // namespace idlewave::idg
