#include "collectives/threaded_program_run.hpp"
#include "loggops/simulate.hpp"
#include "simulations.hpp"

namespace idlewave::loggops {

template SimulationResult<CausedTime> simulate(const collectives::ThreadedProgramSource&, const machine::Machine&,
                                               const SimulationOptions&, Recorder&);
template SimulationResult<Time> simulate(const collectives::ThreadedProgramSource&, const machine::Machine&,
                                         const SimulationOptions&, NoObserver&);

}  // namespace idlewave::loggops
