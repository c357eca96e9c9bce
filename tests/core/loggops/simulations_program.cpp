#include "simulations.hpp"

namespace idlewave {

template SimulationResult<CausedTime> simulate(const ProgramSource&, const Machine&, const SimulationOptions&,
                                               Recorder&);
template SimulationResult<Time> simulate(const ProgramSource&, const Machine&, const SimulationOptions&, NoObserver&);

}  // namespace idlewave
