#include "collectives/tree.hpp"

#include "collectives/algorithms.hpp"

/// Broadcast and reduction on a binomial tree, and the operations that combine the two.
namespace idlewave::collectives {

Step bcast_binomial(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t v = call.relative();
    if (number == 0) {
        return v == 0 ? steps::skip(number)
                      : steps::and_join(steps::recv(number, call.absolute(parent(v)), call.bytes));
    }
    const std::uint32_t i = number - 1;
    const std::uint32_t count = children(v, call.size);
    if (i >= count) {
        return steps::done();
    }
    return steps::and_join(steps::send(number, call.absolute(child(v, i)), call.bytes), i + 1 == count);
}

Step reduce_binomial(const CollectiveCall& call, StepNumber number) {
    return up_the_tree(call, number, true);
}

Step allreduce_reduce_bcast(const CollectiveCall& call, StepNumber number) {
    return steps::in_sequence(reduce_binomial, bcast_binomial, call, number);
}

/// Up a binomial tree and down again, without a reduction.
Step barrier_tree(const CollectiveCall& call, StepNumber number) {
    const auto up = [](const CollectiveCall& c, StepNumber n) { return up_the_tree(c, n, false); };
    return steps::in_sequence(up, bcast_binomial, call, number);
}

}  // namespace idlewave::collectives
