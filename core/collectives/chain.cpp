#include <algorithm>

#include "collectives/algorithms.hpp"

/// Pipelined algorithms: the vector is cut into segments, which travel one after the other along a chain or a tree. The
/// receive of the next segment is posted before the present one is sent on, as in Open MPI (coll_base_bcast.c,
/// coll_base_reduce.c: the generic functions for any tree).
namespace idlewave::collectives {
namespace {

struct Segments {
    explicit Segments(const CollectiveCall& call)
        : bytes(call.bytes),
          // At most 2^28 segments, so that step numbers fit.
          each(call.segment == 0 ? call.bytes : std::max(call.segment, (call.bytes >> 28) + 1)) {}

    [[nodiscard]] bool has(std::uint32_t i) const { return i == 0 || i * each < bytes; }
    [[nodiscard]] std::uint64_t operator[](std::uint32_t i) const { return std::min(each, bytes - i * each); }

    std::uint64_t bytes;
    std::uint64_t each;
};

/// Down a tree. Ranks are relative to the root; a rank has up to two children, from `first_child` on.
Step down(const CollectiveCall& call, StepNumber number, std::uint32_t parent, std::uint64_t first_child,
          std::uint32_t children) {
    const bool root = call.relative() == 0;
    const Segments segments(call);
    if (number < 2) {
        if (root) {
            return steps::jump(2);
        }
        return number == 0 ? steps::recv(number, call.absolute(parent), segments[0]) : steps::join(number);
    }
    const std::uint32_t i = static_cast<std::uint32_t>(number - 2) / 4;
    if (!segments.has(i)) {
        return steps::done();
    }
    const std::uint32_t part = static_cast<std::uint32_t>(number - 2) % 4;
    if (part == 0) {
        return root || !segments.has(i + 1) ? steps::skip(number)
                                            : steps::recv(number, call.absolute(parent), segments[i + 1]);
    }
    if (part == 3) {
        return steps::join(number);
    }
    const std::uint64_t child = first_child + part - 1;
    return part > children || child >= call.size
               ? steps::skip(number)
               : steps::send(number, call.absolute(static_cast<std::uint32_t>(child)), segments[i]);
}

}  // namespace

Step bcast_chain(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t v = call.relative();
    return down(call, number, v - 1, std::uint64_t{v} + 1, 1);
}

/// The tree is a heap: rank v relative to the root has the children 2v + 1 and 2v + 2.
Step bcast_binary(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t v = call.relative();
    return down(call, number, (v - 1) / 2, 2 * std::uint64_t{v} + 1, 2);
}

/// Up the chain: every rank reduces a segment with its own data and sends it on towards the root.
Step reduce_pipelined(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t v = call.relative();
    const bool receives = v + 1 < call.size;
    const Segments segments(call);
    if (number == 0) {
        return receives ? steps::recv(number, call.absolute(v + 1), segments[0]) : steps::skip(number);
    }
    const std::uint32_t i = static_cast<std::uint32_t>(number - 1) / 4;
    const std::uint32_t part = static_cast<std::uint32_t>(number - 1) % 4;
    if (!segments.has(i)) {
        return part == 0 ? steps::join(number) : steps::done();
    }
    switch (part) {
        case 0:
            return steps::join(number);
        case 1:
            return receives && segments.has(i + 1) ? steps::recv(number, call.absolute(v + 1), segments[i + 1])
                                                   : steps::skip(number);
        case 2:
            return receives ? steps::reduce(call, number, segments[i]) : steps::skip(number);
        default:
            return v > 0 ? steps::send(number, call.absolute(v - 1), segments[i]) : steps::skip(number);
    }
}

}  // namespace idlewave::collectives
