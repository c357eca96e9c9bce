#include "collectives/subtree.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/counts.hpp"

/// Gather and scatter on trees whose subtrees are ranges of ranks.
///
/// If counts differ, an inner rank has to know the counts of its whole subtree. MPI_Gatherv and MPI_Scatterv pass them
/// to the root only; therefore MPI implementations use linear algorithms for these. Here `recv_counts` (gather) or
/// `send_counts` (scatter) must be given at every rank.
namespace idlewave::collectives {
namespace {

/// A range of relative ranks is a range around the ring of ranks.
auto around(const CollectiveCall& call, const Counts& counts) {
    return [&call, counts](std::uint32_t begin, std::uint32_t end) {
        return counts.around(call.absolute(begin), end - begin, call.size);
    };
}

}  // namespace

Step gather_binomial(const CollectiveCall& call, StepNumber number) {
    return gather_up(call, number, around(call, Counts::each(call.recv_counts, call.bytes)));
}

Step scatter_binomial(const CollectiveCall& call, StepNumber number) {
    return scatter_down(call, number, around(call, Counts::each(call.send_counts, call.bytes)));
}

}  // namespace idlewave::collectives
