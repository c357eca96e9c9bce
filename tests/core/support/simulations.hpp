#pragma once

#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "goal/graph.hpp"
#include "loggops/shared_slopes.hpp"
#include "loggops/simulate.hpp"
#include "loggops/slopes.hpp"

/// Simulations that many tests run: compiled once (simulations_….cpp), since each takes a compiler half a minute.
namespace idlewave {

extern template SimulationResult<CausedTime> simulate(const Graph&, const Machine&, const SimulationOptions&,
                                                      Recorder&);
extern template SimulationResult<Time> simulate(const Graph&, const Machine&, const SimulationOptions&, NoObserver&);
extern template SimulationResult<Slopes<1>> simulate(const Graph&, const Machine&, const SimulationOptions&,
                                                     Differentiation<1>&);
extern template SimulationResult<Slopes<2>> simulate(const Graph&, const Machine&, const SimulationOptions&,
                                                     Differentiation<2>&);
extern template SimulationResult<SharedSlopes> simulate(const Graph&, const Machine&, const SimulationOptions&,
                                                        SharedDifferentiation&);

extern template SimulationResult<CausedTime> simulate(const Composition&, const Machine&, const SimulationOptions&,
                                                      Recorder&);
extern template SimulationResult<Time> simulate(const Composition&, const Machine&, const SimulationOptions&,
                                                NoObserver&);
extern template SimulationResult<SharedSlopes> simulate(const Composition&, const Machine&, const SimulationOptions&,
                                                        SharedDifferentiation&);

extern template SimulationResult<CausedTime> simulate(const ProgramSource&, const Machine&, const SimulationOptions&,
                                                      Recorder&);
extern template SimulationResult<Time> simulate(const ProgramSource&, const Machine&, const SimulationOptions&,
                                                NoObserver&);

}  // namespace idlewave
