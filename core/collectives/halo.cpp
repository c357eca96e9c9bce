#include "collectives/grid.hpp"
#include "collectives/patterns.hpp"

/// Halo exchange: every rank of a Cartesian grid gives its neighbours the layer of cells that faces them. All receives
/// are posted, then all sends, then everything is waited for; the computation of the iteration follows.
namespace idlewave::collectives {
namespace {

/// A rank that is its own neighbour (one rank in a periodic dimension) copies in memory and sends no message. If both
/// neighbours are the same rank (two ranks in a periodic dimension), messages match in order; therefore receives begin
/// with the upper face, and sends with the lower one.
template <std::uint32_t dimensions>
Step halo(const CollectiveCall& call, StepNumber number) {
    constexpr std::uint32_t faces = 2 * dimensions;
    const auto n = static_cast<std::uint32_t>(number);
    const Grid<dimensions> grid(call);
    if (n >= 2 * faces) {
        return n == 2 * faces       ? steps::join(number)
               : n == 2 * faces + 1 ? steps::calc(number, grid.shape().compute_ns)
                                    : steps::done();
    }
    const bool receiving = n < faces;
    const std::uint32_t face = receiving ? n : n - faces;
    const std::uint32_t dimension = face / 2;
    const bool up = receiving == (face % 2 == 0);
    const std::uint32_t peer = grid.neighbour(dimension, up, grid.shape().periodic);
    if (peer == goal::no_rank) {
        return steps::skip(number);
    }
    return receiving ? steps::recv(number, peer, grid.face_bytes(dimension))
                     : steps::send(number, peer, grid.face_bytes(dimension));
}

}  // namespace

Step halo1d(const CollectiveCall& call, StepNumber number) {
    return halo<1>(call, number);
}

Step halo2d(const CollectiveCall& call, StepNumber number) {
    return halo<2>(call, number);
}

Step halo3d(const CollectiveCall& call, StepNumber number) {
    return halo<3>(call, number);
}

}  // namespace idlewave::collectives
