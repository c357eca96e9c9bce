#include "simulations.hpp"

namespace idlewave {

template Simulated<Caused> simulate(const Composition&, const Machine&, const SimulationOptions&, Recorder&);
template Simulated<Time> simulate(const Composition&, const Machine&, const SimulationOptions&, Unobserved&);

}  // namespace idlewave
