#include "simulations.hpp"

namespace idlewave::loggops {

template SimulationResult<CausedTime> loggops::simulate(const collectives::ProgramSource&, const machine::Machine&,
                                                        const SimulationOptions&, Recorder&);
template SimulationResult<Time> loggops::simulate(const collectives::ProgramSource&, const machine::Machine&,
                                                  const SimulationOptions&, NoObserver&);

}  // namespace idlewave::loggops
