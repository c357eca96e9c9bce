#include "goal/graph_run.hpp"
#include "loggops/simulate.hpp"
#include "loggops/simulate_partitioned.hpp"
#include "run_interleaved_ranks.hpp"
#include "simulations.hpp"

namespace idlewave::loggops {

template SimulationResult<AllSlopes> simulate(const goal::Graph&, const machine::Machine&, const SimulationOptions&,
                                              FullDifferentiation&);
template PartitionedSimulation<AllSlopes> simulate_partitioned(const goal::Graph&, const machine::Machine&,
                                                               std::uint64_t, const pdes::RunConfiguration&,
                                                               FullDifferentiation&);

}  // namespace idlewave::loggops

namespace idlewave::testing {

template InterleavedRanks<loggops::AllSlopes> interleaved_ranks(const goal::Graph&, const machine::Machine&,
                                                                std::uint64_t, std::uint32_t, bool,
                                                                loggops::FullDifferentiation&);

}  // namespace idlewave::testing
