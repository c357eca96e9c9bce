#include <bit>

#include "collectives/algorithms.hpp"

/// Broadcast and reduction on a binomial tree that doubles the distance: in round k, rank v < 2^k (as seen from the
/// root) tells v + 2^k.
namespace idlewave {
namespace {

/// The round in which `v` tells its first child.
unsigned first_round(std::uint32_t v) {
    return static_cast<unsigned>(std::bit_width(v));
}

std::uint32_t parent(std::uint32_t v) {
    return v - std::bit_floor(v);
}

/// How many children `v` has among `size` ranks.
unsigned children(std::uint32_t v, std::uint32_t size) {
    unsigned count = 0;
    while (v + (std::uint64_t{1} << (first_round(v) + count)) < size) {
        ++count;
    }
    return count;
}

std::uint64_t child(std::uint32_t v, std::uint64_t i) {
    return v + (std::uint64_t{1} << (first_round(v) + i));
}

}  // namespace

Step bcast_binomial(const CollectiveCall& call, std::uint64_t number) {
    const std::uint32_t v = call.relative();
    if (number < 2) {
        if (v == 0) {
            return steps::skip(number);
        }
        return number == 0 ? steps::recv(number, call.absolute(parent(v)), call.bytes) : steps::join(number);
    }
    const std::uint64_t i = number - 2;
    const unsigned count = children(v, call.size);
    if (i < count) {
        return steps::send(number, call.absolute(child(v, i)), call.bytes);
    }
    return i == count ? steps::join(number) : steps::done();
}

Step reduce_binomial(const CollectiveCall& call, std::uint64_t number) {
    const std::uint32_t v = call.relative();
    const std::uint64_t count = children(v, call.size);
    if (number < 3 * count) {
        const std::uint64_t i = count - 1 - number / 3;  // the deepest subtree was told last, and answers first
        switch (number % 3) {
            case 0:
                return steps::recv(number, call.absolute(child(v, i)), call.bytes);
            case 1:
                return steps::join(number);
            default:
                return steps::reduce(call, number, call.bytes);
        }
    }
    if (v == 0 || number > 3 * count + 1) {
        return steps::done();
    }
    return number == 3 * count ? steps::send(number, call.absolute(parent(v)), call.bytes) : steps::join(number);
}

}  // namespace idlewave
