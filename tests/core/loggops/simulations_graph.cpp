#include "goal/graph_run.hpp"
#include "loggops/simulate.hpp"
#include "loggops/simulate_partitioned.hpp"
#include "run_interleaved_ranks.hpp"
#include "simulations.hpp"

namespace idlewave::loggops {

template SimulationResult<Time> simulate(const goal::Graph&, const machine::Machine&, const SimulationOptions&,
                                         NoObserver&);
template PartitionedSimulation<Time> simulate_partitioned(const goal::Graph&, const machine::Machine&, std::uint64_t,
                                                          const pdes::RunConfiguration&, NoObserver&);

}  // namespace idlewave::loggops

namespace idlewave::testing {

template InterleavedRanks<Time> interleaved_ranks(const goal::Graph&, const machine::Machine&, std::uint64_t,
                                                  std::uint32_t, bool, loggops::NoObserver&);

}  // namespace idlewave::testing
