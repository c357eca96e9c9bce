#include "simulations.hpp"

namespace idlewave {

template SimulationResult<CausedTime> simulate(const Graph&, const Machine&, const SimulationOptions&, Recorder&);
template SimulationResult<Time> simulate(const Graph&, const Machine&, const SimulationOptions&, NoObserver&);

}  // namespace idlewave
