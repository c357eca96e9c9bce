#include <algorithm>
#include <bit>

#include "collectives/algorithms.hpp"

/// Gather and scatter on a binomial tree whose subtrees are ranges: rank v (as seen from the root) stands for the
/// 2^k ranks from v on, 2^k its lowest set bit, as in MPICH.
namespace idlewave {
namespace {

unsigned levels(const CollectiveCall& call) {
    const std::uint32_t v = call.relative();
    return v == 0 ? static_cast<unsigned>(std::bit_width(call.size - 1)) : static_cast<unsigned>(std::countr_zero(v));
}

/// Bytes of the subtree of `v` that is up to 2^k ranks wide.
std::uint64_t subtree_bytes(const CollectiveCall& call, std::uint64_t v, unsigned k) {
    return call.bytes * std::min<std::uint64_t>(std::uint64_t{1} << k, call.size - v);
}

}  // namespace

Step gather_binomial(const CollectiveCall& call, std::uint64_t number) {
    const std::uint32_t v = call.relative();
    const unsigned depth = levels(call);
    if (number < 2 * depth) {
        const auto k = static_cast<unsigned>(number / 2);
        const std::uint64_t child = v + (std::uint64_t{1} << k);
        if (child >= call.size) {
            return steps::skip(number);
        }
        return number % 2 == 0 ? steps::recv(number, call.absolute(child), subtree_bytes(call, child, k))
                               : steps::join(number);
    }
    if (v == 0 || number > 2 * depth + 1) {
        return steps::done();
    }
    return number == 2 * depth
               ? steps::send(number, call.absolute(v - (std::uint64_t{1} << depth)), subtree_bytes(call, v, depth))
               : steps::join(number);
}

Step scatter_binomial(const CollectiveCall& call, std::uint64_t number) {
    const std::uint32_t v = call.relative();
    const unsigned depth = levels(call);
    if (number < 2) {
        if (v == 0) {
            return steps::skip(number);
        }
        return number == 0
                   ? steps::recv(number, call.absolute(v - (std::uint64_t{1} << depth)), subtree_bytes(call, v, depth))
                   : steps::join(number);
    }
    const std::uint64_t i = number - 2;
    if (i >= depth) {
        return i == depth ? steps::join(number) : steps::done();
    }
    const auto k = static_cast<unsigned>(depth - 1 - i);
    const std::uint64_t child = v + (std::uint64_t{1} << k);
    return child < call.size ? steps::send(number, call.absolute(child), subtree_bytes(call, child, k))
                             : steps::skip(number);
}

}  // namespace idlewave
