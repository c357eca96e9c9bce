#pragma once

#include <cstdint>

namespace idlewave {

enum class OpKind : std::uint8_t { send, recv, calc };

/// Matches any source, or any tag.
inline constexpr std::uint32_t any = 0xffffffff;

/// Whether two sources, or two tags, agree: each may be `any`.
constexpr bool agree(std::uint32_t a, std::uint32_t b) {
    return a == any || b == any || a == b;
}

/// What a schedule may ask for. A calc's nanoseconds become picoseconds in int64; sizes are multiplied by costs per
/// byte. Readers refuse what is larger.
inline constexpr std::uint64_t largest_calc = 9'000'000'000'000'000;
inline constexpr std::uint64_t largest_size = std::uint64_t{1} << 50;
inline constexpr std::uint32_t most_ranks = 0xfffffffe;

/// What a rank does: one entry of a schedule.
struct Op {
    std::uint64_t size = 0;  ///< bytes; of a calc nanoseconds
    std::uint32_t peer = 0;  ///< destination or source; a receive's may be `any`
    std::uint32_t tag = 0;   ///< may be `any`
    OpKind kind = OpKind::calc;
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    bool reduction = false;  ///< a calc that is part of a collective's reduction
};

/// What an op waits for at another one.
enum class Edge : std::uint8_t {
    start,  ///< GOAL's irequires: the other has started
    end     ///< GOAL's requires: the other has ended
};

/// An op is known by its place in its rank's schedule.
using Place = std::uint32_t;

inline constexpr Place most_ops = 0xfffffffe;  ///< of one rank
inline constexpr Place unknown_place = 0xffffffff;

}  // namespace idlewave
