#include "simulations.hpp"

namespace idlewave {

template Simulated<Caused> simulate(const ProgramSource&, const Machine&, const SimulationOptions&, Recorder&);
template Simulated<Time> simulate(const ProgramSource&, const Machine&, const SimulationOptions&, Unobserved&);

}  // namespace idlewave
