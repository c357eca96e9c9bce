#include "loggops/simulate.hpp"
#include "loggops/simulate_partitioned.hpp"
#include "run_interleaved_ranks.hpp"
#include "simulations.hpp"

namespace idlewave::loggops {

template SimulationResult<Time> simulate(const collectives::Composition&, const machine::Machine&,
                                         const SimulationOptions&, NoObserver&);
template SimulationResult<CausedTime> simulate(const collectives::Composition&, const machine::Machine&,
                                               const SimulationOptions&, Recorder&);
template PartitionedSimulation<Time> simulate_partitioned(const collectives::Composition&, const machine::Machine&,
                                                          std::uint64_t, const pdes::RunConfiguration&, NoObserver&);

}  // namespace idlewave::loggops

namespace idlewave::testing {

template InterleavedRanks<Time> interleaved_ranks(const collectives::Composition&, const machine::Machine&,
                                                  std::uint64_t, std::uint32_t, bool, loggops::NoObserver&);

}  // namespace idlewave::testing
