#include "simulations.hpp"

namespace idlewave {

template SimulationResult<CausedTime> simulate(const Composition&, const Machine&, const SimulationOptions&, Recorder&);
template SimulationResult<Time> simulate(const Composition&, const Machine&, const SimulationOptions&, NoObserver&);

}  // namespace idlewave
