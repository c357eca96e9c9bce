#include "collectives/algorithms.hpp"
#include "collectives/counts.hpp"
#include "collectives/ring.hpp"
#include "collectives/subtree.hpp"

namespace idlewave::collectives {

/// Van de Geijn's broadcast: the root scatters the vector down a binomial tree, and then an allgather around the ring
/// collects the blocks. Blocks are numbered relative to the root. If the vector has fewer bytes than there are ranks,
/// some blocks are empty; they are sent as messages of 0 bytes.
Step bcast_scatter_allgather(const CollectiveCall& call, StepNumber number) {
    const Counts counts = Counts::of_vector(call, {});
    if (number >= steps::second_begins) {
        return around_the_ring(call, number - steps::second_begins, call.relative(), counts).from(steps::second_begins);
    }
    const Step step = scatter_down(
        call, number, [&counts](std::uint32_t begin, std::uint32_t end) { return counts.sum(begin, end); });
    return step.kind == Step::Kind::done ? steps::jump(steps::second_begins) : step;
}

}  // namespace idlewave::collectives
