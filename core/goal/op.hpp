#pragma once

#include <cstdint>

namespace idlewave::goal {

enum class OpKind : std::uint8_t { send, recv, calc };

/// Matches any source, or any tag.
inline constexpr std::uint32_t any = 0xffffffff;

/// Whether two sources, or two tags, match; each may be `any`.
constexpr bool matches(std::uint32_t a, std::uint32_t b) {
    return a == any || b == any || a == b;
}

/// The tags of messages that pass through a buffer which the ranks of a node share, on a machine that has one
/// (docs/model.md, R3): this bit is set, and the tag is not `any`.
inline constexpr std::uint32_t shared_buffer_tag = 0x80000000;

constexpr bool has_shared_buffer_tag(std::uint32_t tag) {
    return (tag & shared_buffer_tag) != 0 && tag != any;
}

/// The largest values that readers accept: the nanoseconds of a calc must fit into int64 as picoseconds, and sizes are
/// multiplied by costs per byte.
inline constexpr std::uint64_t largest_calc = 9'000'000'000'000'000;
inline constexpr std::uint64_t largest_size = std::uint64_t{1} << 50;
inline constexpr std::uint32_t most_ranks = 0xfffffffe;

/// One operation of a rank: a send, a receive, or computation.
struct Op {
    std::uint64_t size = 0;  ///< in bytes; of a calc in nanoseconds
    std::uint32_t peer = 0;  ///< destination or source; a receive's may be `any`
    std::uint32_t tag = 0;   ///< may be `any`
    OpKind kind = OpKind::calc;
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    bool reduction : 1 = false;  ///< a calc that is part of a collective's reduction
    // False if the source makes no op ready at the start, or at the end: then it need not be notified.
    bool start_has_successors : 1 = true;
    bool end_has_successors : 1 = true;
};

/// The event of a predecessor for which a successor waits.
enum class Edge : std::uint8_t {
    start,  ///< GOAL's irequires: the predecessor has started
    end     ///< GOAL's requires: the predecessor has ended
};

/// The index of an op in the schedule of its rank.
using OpIndex = std::uint32_t;

inline constexpr OpIndex most_ops = 0xfffffffe;  ///< of one rank
inline constexpr OpIndex unknown_op_index = 0xffffffff;

}  // namespace idlewave::goal
