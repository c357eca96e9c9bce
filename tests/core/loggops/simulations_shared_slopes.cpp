#include "goal/graph_run.hpp"
#include "loggops/simulate.hpp"
#include "simulations.hpp"

namespace idlewave::loggops {

template SimulationResult<Slopes<1>> simulate(const goal::Graph&, const machine::Machine&, const SimulationOptions&,
                                              Differentiation<1>&);
template SimulationResult<Slopes<1, false>> simulate(const goal::Graph&, const machine::Machine&,
                                                     const SimulationOptions&, Differentiation<1, false>&);
template SimulationResult<SharedSlopes> simulate(const goal::Graph&, const machine::Machine&, const SimulationOptions&,
                                                 SharedDifferentiation&);
template SimulationResult<SharedSlopes> simulate(const collectives::Composition&, const machine::Machine&,
                                                 const SimulationOptions&, SharedDifferentiation&);

}  // namespace idlewave::loggops
