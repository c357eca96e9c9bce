#include "collectives/algorithms.hpp"
#include "collectives/parts.hpp"
#include "collectives/ring.hpp"
#include "collectives/subtree.hpp"

namespace idlewave {

/// Van de Geijn's broadcast: the root scatters the vector down a binomial tree, then its parts go around the ring.
/// Parts are numbered as seen from the root; a vector shorter than the ranks are many has empty ones, which are sent as
/// such.
Step bcast_scatter_allgather(const CollectiveCall& call, StepNumber number) {
    const Parts parts = Parts::of_vector(call, {});
    if (number >= steps::second_begins) {
        return around_the_ring(call, number - steps::second_begins, call.relative(), parts).from(steps::second_begins);
    }
    const Step step =
        scatter_down(call, number, [&parts](std::uint32_t begin, std::uint32_t end) { return parts.sum(begin, end); });
    return step.kind == Step::Kind::done ? steps::jump(steps::second_begins) : step;
}

}  // namespace idlewave
