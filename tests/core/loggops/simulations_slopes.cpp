#include "simulations.hpp"

namespace idlewave {

template SimulationResult<Slopes<1>> simulate(const Graph&, const Machine&, const SimulationOptions&,
                                              Differentiation<1>&);
template SimulationResult<Slopes<2>> simulate(const Graph&, const Machine&, const SimulationOptions&,
                                              Differentiation<2>&);
template SimulationResult<SharedSlopes> simulate(const Graph&, const Machine&, const SimulationOptions&,
                                                 SharedDifferentiation&);
template SimulationResult<SharedSlopes> simulate(const Composition&, const Machine&, const SimulationOptions&,
                                                 SharedDifferentiation&);

}  // namespace idlewave
