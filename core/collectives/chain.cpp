#include <algorithm>

#include "collectives/algorithms.hpp"

/// Pipelines: the vector is cut into segments, which follow each other along a chain or a tree. The next segment's
/// receive is posted before the last one is passed on, as in Open MPI (coll_base_bcast.c, coll_base_reduce.c: the
/// generic functions for any tree).
namespace idlewave {
namespace {

struct Segments {
    explicit Segments(const CollectiveCall& call)
        : bytes(call.bytes),
          // At most 2^28 of them, so that step numbers stay small.
          each(call.segment == 0 ? call.bytes : std::max(call.segment, (call.bytes >> 28) + 1)) {}

    [[nodiscard]] bool has(std::uint32_t i) const { return i == 0 || i * each < bytes; }
    [[nodiscard]] std::uint64_t operator[](std::uint32_t i) const { return std::min(each, bytes - i * each); }

    std::uint64_t bytes;
    std::uint64_t each;
};

/// Down a tree whose ranks (as seen from the root) have up to two children, the numbers after `first_child`.
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

/// The tree is that of a heap: rank v (as seen from the root) has the children 2v + 1 and 2v + 2.
Step bcast_binary(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t v = call.relative();
    return down(call, number, (v - 1) / 2, 2 * std::uint64_t{v} + 1, 2);
}

/// Up the chain: every rank adds to a segment what it has, and passes it on towards the root.
Step reduce_pipelined(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t v = call.relative();
    const bool hears = v + 1 < call.size;
    const Segments segments(call);
    if (number == 0) {
        return hears ? steps::recv(number, call.absolute(v + 1), segments[0]) : steps::skip(number);
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
            return hears && segments.has(i + 1) ? steps::recv(number, call.absolute(v + 1), segments[i + 1])
                                                : steps::skip(number);
        case 2:
            return hears ? steps::reduce(call, number, segments[i]) : steps::skip(number);
        default:
            return v > 0 ? steps::send(number, call.absolute(v - 1), segments[i]) : steps::skip(number);
    }
}

}  // namespace idlewave
