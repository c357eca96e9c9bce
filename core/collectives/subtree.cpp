#include "collectives/subtree.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/parts.hpp"

/// Gather, scatter, and broadcast by scatter, on trees whose subtrees are ranges.
///
/// With parts of different sizes an inner rank has to know the sizes of its whole subtree. MPI_Gatherv and MPI_Scatterv
/// tell them to the root alone, and MPI implementations therefore carry these out linearly; here it is assumed that
/// `recv_counts` (gather) or `send_counts` (scatter) are given to every rank.
namespace idlewave {
namespace {

/// A range as seen from the root is a range around the ring of ranks.
auto around(const CollectiveCall& call, const Parts& parts) {
    return [&call, parts](std::uint32_t begin, std::uint32_t end) {
        return parts.around(call.absolute(begin), end - begin, call.size);
    };
}

}  // namespace

Step gather_binomial(const CollectiveCall& call, StepNumber number) {
    return gather_up(call, number, around(call, Parts::each(call.recv_counts, call.bytes)));
}

Step scatter_binomial(const CollectiveCall& call, StepNumber number) {
    return scatter_down(call, number, around(call, Parts::each(call.send_counts, call.bytes)));
}

}  // namespace idlewave
