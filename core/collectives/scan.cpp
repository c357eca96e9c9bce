#include <bit>

#include "collectives/algorithms.hpp"

/// Prefix reductions: rank r gets the reduction over ranks 0 to r; in an exclusive scan over ranks 0 to r − 1.
namespace idlewave::collectives {
namespace {

/// In round i a rank exchanges the sum of its group of 2^i ranks with the rank whose number differs in bit i, if it
/// exists. It adds the received sum to its group's sum, and if it comes from a lower rank also to its result. In an
/// exclusive scan the first sum from a lower rank becomes the result without an addition.
Step scan_by_doubling(const CollectiveCall& call, StepNumber number, bool exclusive) {
    const std::uint32_t round = static_cast<std::uint32_t>(number) / 4;
    const std::uint64_t distance = std::uint64_t{1} << round;
    if (distance >= call.size) {
        return steps::done();
    }
    const std::uint32_t peer = call.rank ^ static_cast<std::uint32_t>(distance);
    if (peer >= call.size) {
        return steps::jump(number + 4 - number % 4);
    }
    switch (number % 4) {
        case 0:
            return steps::recv(number, peer, call.bytes);
        case 1:
            return steps::send(number, peer, call.bytes);
        case 2:
            return steps::join(number);
        default: {
            const bool first = exclusive && static_cast<std::uint32_t>(std::countr_zero(call.rank)) == round;
            return steps::reduce(call, number, call.bytes, peer < call.rank && !first ? 2 : 1);
        }
    }
}

/// Each rank receives from its predecessor, adds its own data, and sends to its successor.
Step scan_by_chain(const CollectiveCall& call, StepNumber number, bool exclusive) {
    const bool first = call.rank == 0;
    const bool last = call.rank + 1 == call.size;
    switch (number) {
        case 0:
            return first ? steps::skip(number) : steps::recv(number, call.rank - 1, call.bytes);
        case 1:
            return first ? steps::skip(number) : steps::join(number);
        case 2:
            return first || (exclusive && last) ? steps::skip(number) : steps::reduce(call, number, call.bytes);
        case 3:
            return last ? steps::skip(number) : steps::send(number, call.rank + 1, call.bytes);
        case 4:
            return steps::join(number);
        default:
            return steps::done();
    }
}

}  // namespace

Step scan_recursive_doubling(const CollectiveCall& call, StepNumber number) {
    return scan_by_doubling(call, number, false);
}

Step scan_linear(const CollectiveCall& call, StepNumber number) {
    return scan_by_chain(call, number, false);
}

Step exscan_recursive_doubling(const CollectiveCall& call, StepNumber number) {
    return scan_by_doubling(call, number, true);
}

Step exscan_linear(const CollectiveCall& call, StepNumber number) {
    return scan_by_chain(call, number, true);
}

}  // namespace idlewave::collectives
