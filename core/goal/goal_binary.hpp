#pragma once

#include <cstddef>
#include <cstdint>

/// LogGOPSim's binary schedules, as its txt2bin writes and its simulator reads them: packed, little-endian, with
/// offsets that count from the end of the magic number. docs/goal-format.md describes the layout.
namespace idlewave::goal::binary {

inline constexpr std::uint64_t magic = 4223;
inline constexpr std::uint64_t magic_used_up =
    2342;  ///< written by LogGOPSim --save-mem, which overwrites the schedule

inline constexpr std::uint64_t base = 8;          ///< file position of offset 0
inline constexpr std::uint64_t table_begin = 14;  ///< after magic, ranks, and the highest CPU and NIC
inline constexpr std::uint64_t table_entry = 16;  ///< begin and end of a rank
inline constexpr std::uint64_t rank_header = 8;   ///< numbers of ops and roots
inline constexpr std::uint64_t node_size = 39;

enum class Type : std::uint8_t { send = 1, recv = 2, calc = 3 };

/// The offsets of an op's fields.
namespace node {
inline constexpr std::size_t indegree = 0;
inline constexpr std::size_t type = 4;
inline constexpr std::size_t peer = 5;
inline constexpr std::size_t size = 9;
inline constexpr std::size_t tag = 17;
inline constexpr std::size_t cpu = 21;
inline constexpr std::size_t nic = 22;
inline constexpr std::size_t done_count = 23;  ///< number of successors that require its end, …
inline constexpr std::size_t done_begin = 27;  ///< … and the index of the first one in the appendix
inline constexpr std::size_t started_count = 31;
inline constexpr std::size_t started_begin = 35;
}  // namespace node

}  // namespace idlewave::goal::binary
