#pragma once

#include <cstdint>

namespace idlewave::goal {

/// From `put` on they are one-sided (docs/model.md, R22 to R26).
enum class OpKind : std::uint8_t { send, recv, calc, put, get, await, lock, shared_lock, unlock };

/// Whether an op is one-sided: no op of its target takes part in it, and an await waits for the notification of a put.
constexpr bool is_one_sided(OpKind kind) {
    return kind > OpKind::calc;
}

/// Whether an op waits for what its peer sends: then its peer and its tag may be `any`.
constexpr bool is_receiving(OpKind kind) {
    return kind == OpKind::recv || kind == OpKind::await;
}

/// Whether an op moves bytes of which the schedule says how many.
constexpr bool has_size(OpKind kind) {
    return kind == OpKind::send || kind == OpKind::recv || kind == OpKind::put || kind == OpKind::get;
}

/// Matches any source, or any tag.
inline constexpr std::uint32_t any = 0xffffffff;

/// Whether two sources, or two tags, match; each may be `any`.
constexpr bool matches(std::uint32_t a, std::uint32_t b) {
    return a == any || b == any || a == b;
}

/// Whether both the sources and the tags of a receive and a message match.
[[gnu::always_inline]] constexpr bool matches(std::uint32_t source, std::uint32_t tag, std::uint32_t other_source,
                                              std::uint32_t other_tag) {
    // Equality of both is the usual case, so it is tested first, and by one branch: which of them differs cannot be
    // predicted.
    return ((source ^ other_source) | (tag ^ other_tag)) == 0 ||
           (matches(source, other_source) && matches(tag, other_tag));
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

/// This bit in the size of a send makes it synchronous: it ends after its receive is posted (docs/model.md, R7). It is
/// in the size, and no field of its own, so that `size <= limit` alone finds the messages that are eager, which most
/// are; the limits are cut to `largest_size` for that.
inline constexpr std::uint64_t synchronous_bit = std::uint64_t{1} << 62;

constexpr bool is_synchronous(std::uint64_t size) {
    return (size & synchronous_bit) != 0;
}

/// The bytes of an op, whether it is synchronous or not.
constexpr std::uint64_t bytes_of(std::uint64_t size) {
    return size & ~synchronous_bit;
}

/// The tag of a put that does not notify its target.
inline constexpr std::uint32_t no_notification = any;

/// One operation of a rank: a send, a receive, computation, or a one-sided operation.
struct Op {
    std::uint64_t size =
        0;  ///< in bytes, perhaps with `synchronous_bit`; of a calc in ns; 1 of an await, a lock and an unlock
    std::uint32_t peer = 0;  ///< destination, source or target; that of a receive or an await may be `any`
    std::uint32_t tag = 0;   ///< may be `any`; of a put its notification or `no_notification`; of a lock its number
    OpKind kind = OpKind::calc;
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    bool reduction : 1 = false;  ///< a calc that is part of a collective's reduction
    // False if the source makes no op ready at the start, or at the end: then it need not be notified.
    bool start_has_successors : 1 = true;
    bool end_has_successors : 1 = true;
    std::uint8_t unused : 5 =
        0;  ///< without it, who writes the three bits would first read these, and wait for older stores
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
