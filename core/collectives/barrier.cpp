#include "collectives/algorithms.hpp"

namespace idlewave {

/// Rank 0 hears from all, then tells all.
Step barrier_linear(const CollectiveCall& call, std::uint64_t number) {
    const std::uint64_t others = call.size - 1;
    if (call.rank != 0) {
        switch (number) {
            case 0:
                return steps::send(number, 0, call.bytes);
            case 1:
                return steps::recv(number, 0, call.bytes);
            case 2:
                return steps::join(number);
            default:
                return steps::done();
        }
    }
    const auto peer = [](std::uint64_t i) { return static_cast<std::uint32_t>(i + 1); };
    if (number < others) {
        return steps::recv(number, peer(number), call.bytes);
    }
    if (number == others || number == 2 * others + 1) {
        return steps::join(number);
    }
    return number > 2 * others + 1 ? steps::done() : steps::send(number, peer(number - others - 1), call.bytes);
}

/// Up a binomial tree and down again.
Step barrier_tree(const CollectiveCall& call, std::uint64_t number) {
    return steps::one_after_the_other(reduce_binomial, bcast_binomial, call, number);
}

}  // namespace idlewave
