#include "simulations.hpp"

namespace idlewave {

template Simulated<Slopes<1>> simulate(const Graph&, const Machine&, const SimulationOptions&, Differentiation<1>&);
template Simulated<Slopes<2>> simulate(const Graph&, const Machine&, const SimulationOptions&, Differentiation<2>&);
template Simulated<SharedSlopes> simulate(const Graph&, const Machine&, const SimulationOptions&,
                                          SharedDifferentiation&);
template Simulated<SharedSlopes> simulate(const Composition&, const Machine&, const SimulationOptions&,
                                          SharedDifferentiation&);

}  // namespace idlewave
