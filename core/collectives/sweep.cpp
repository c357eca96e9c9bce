#include <algorithm>

#include "collectives/grid.hpp"
#include "collectives/patterns.hpp"

namespace idlewave::collectives {
namespace {

/// Whether a sweep goes upwards in `dimension`, which is 0 or 1. Sweeps begin at the corners in turn, around the grid.
/// More than four sweeps begin twice at each corner (downwards and upwards in the third dimension, which is not
/// divided), as the eight octants of a transport code do.
bool goes_up(std::uint32_t sweep, std::uint32_t sweeps, std::uint32_t dimension) {
    const std::uint32_t corner = sweeps > 4 ? sweep / 2 : sweep;
    return dimension == 0 ? corner == 0 || corner == 3 : corner < 2;
}

}  // namespace

/// A wavefront: every rank receives from its two upstream neighbours, computes a block of planes, and sends its faces
/// to the two downstream neighbours. The next sweep follows without a barrier.
Step sweep(const CollectiveCall& call, StepNumber number) {
    constexpr std::uint32_t per_block = 5;  // two receives, which end in a join, computation, and two sends
    const Grid<2> grid(call);
    const std::uint32_t blocks = std::clamp<std::uint32_t>(grid.shape().blocks, 1, 1U << 26);
    const std::uint32_t sweeps = std::clamp<std::uint32_t>(grid.shape().sweeps, 1, 8);
    const auto n = static_cast<std::uint32_t>(number);
    const std::uint32_t sweep_number = n / per_block / blocks;
    if (sweep_number >= sweeps) {
        return n == per_block * blocks * sweeps ? steps::join(number) : steps::done();
    }
    const std::uint32_t part = n % per_block;
    if (part == 2) {
        return steps::calc(number, grid.shape().compute_ns);
    }
    const bool receiving = part < 2;
    const bool last_receive = part == 1;
    const std::uint32_t dimension = receiving ? part : part - 3;
    const bool up = goes_up(sweep_number, sweeps, dimension) != receiving;
    const std::uint32_t peer = grid.neighbour(dimension, up, false);
    if (peer == goal::no_rank) {
        return last_receive ? steps::join(number) : steps::skip(number);
    }
    return receiving ? steps::and_join(steps::recv(number, peer, grid.face_bytes(dimension)), last_receive)
                     : steps::send(number, peer, grid.face_bytes(dimension));
}

}  // namespace idlewave::collectives
