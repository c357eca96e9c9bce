#include "simulations.hpp"

namespace idlewave {

template Simulated<Caused> simulate(const Graph&, const Machine&, const SimulationOptions&, Recorder&);
template Simulated<Time> simulate(const Graph&, const Machine&, const SimulationOptions&, Unobserved&);

}  // namespace idlewave
