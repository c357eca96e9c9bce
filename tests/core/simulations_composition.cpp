#include "simulations.hpp"

namespace idlewave {

template Simulated<Caused> simulate(const Composition&, const Machine&, const SimulationOptions&, Recorder&);
template Simulated<Time> simulate(const Composition&, const Machine&, const SimulationOptions&, Unobserved&);
template Simulated<SharedSlopes> simulate(const Composition&, const Machine&, const SimulationOptions&,
                                          SharedDifferentiation&);

}  // namespace idlewave
