#pragma once

#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "goal/graph.hpp"
#include "loggops/shared_slopes.hpp"
#include "loggops/simulate.hpp"
#include "loggops/slopes.hpp"

/// Simulations that many tests run: compiled once (simulations_….cpp), since each takes a compiler half a minute.
namespace idlewave {

extern template loggops::SimulationResult<loggops::CausedTime> loggops::simulate(const goal::Graph&,
                                                                                 const machine::Machine&,
                                                                                 const loggops::SimulationOptions&,
                                                                                 loggops::Recorder&);
extern template loggops::SimulationResult<Time> loggops::simulate(const goal::Graph&, const machine::Machine&,
                                                                  const loggops::SimulationOptions&,
                                                                  loggops::NoObserver&);
extern template loggops::SimulationResult<loggops::Slopes<1>> loggops::simulate(const goal::Graph&,
                                                                                const machine::Machine&,
                                                                                const loggops::SimulationOptions&,
                                                                                loggops::Differentiation<1>&);
extern template loggops::SimulationResult<loggops::Slopes<2>> loggops::simulate(const goal::Graph&,
                                                                                const machine::Machine&,
                                                                                const loggops::SimulationOptions&,
                                                                                loggops::Differentiation<2>&);
extern template loggops::SimulationResult<loggops::SharedSlopes> loggops::simulate(const goal::Graph&,
                                                                                   const machine::Machine&,
                                                                                   const loggops::SimulationOptions&,
                                                                                   loggops::SharedDifferentiation&);

extern template loggops::SimulationResult<loggops::CausedTime> loggops::simulate(const collectives::Composition&,
                                                                                 const machine::Machine&,
                                                                                 const loggops::SimulationOptions&,
                                                                                 loggops::Recorder&);
extern template loggops::SimulationResult<Time> loggops::simulate(const collectives::Composition&,
                                                                  const machine::Machine&,
                                                                  const loggops::SimulationOptions&,
                                                                  loggops::NoObserver&);
extern template loggops::SimulationResult<loggops::SharedSlopes> loggops::simulate(const collectives::Composition&,
                                                                                   const machine::Machine&,
                                                                                   const loggops::SimulationOptions&,
                                                                                   loggops::SharedDifferentiation&);

extern template loggops::SimulationResult<loggops::CausedTime> loggops::simulate(const collectives::ProgramSource&,
                                                                                 const machine::Machine&,
                                                                                 const loggops::SimulationOptions&,
                                                                                 loggops::Recorder&);
extern template loggops::SimulationResult<Time> loggops::simulate(const collectives::ProgramSource&,
                                                                  const machine::Machine&,
                                                                  const loggops::SimulationOptions&,
                                                                  loggops::NoObserver&);

}  // namespace idlewave
