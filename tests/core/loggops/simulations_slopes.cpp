#include "simulations.hpp"

namespace idlewave::loggops {

template SimulationResult<Slopes<1>> loggops::simulate(const goal::Graph&, const machine::Machine&,
                                                       const SimulationOptions&, Differentiation<1>&);
template SimulationResult<Slopes<2>> loggops::simulate(const goal::Graph&, const machine::Machine&,
                                                       const SimulationOptions&, Differentiation<2>&);
template SimulationResult<SharedSlopes> loggops::simulate(const goal::Graph&, const machine::Machine&,
                                                          const SimulationOptions&, SharedDifferentiation&);
template SimulationResult<SharedSlopes> loggops::simulate(const collectives::Composition&, const machine::Machine&,
                                                          const SimulationOptions&, SharedDifferentiation&);

}  // namespace idlewave::loggops
