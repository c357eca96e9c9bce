#include "goal/graph_run.hpp"
#include "loggops/simulate.hpp"
#include "loggops/simulate_partitioned.hpp"
#include "run_interleaved_ranks.hpp"
#include "simulations.hpp"

namespace idlewave::loggops {

template SimulationResult<Slopes<2>> simulate(const goal::Graph&, const machine::Machine&, const SimulationOptions&,
                                              Differentiation<2>&);
template PartitionedSimulation<Slopes<2>> simulate_partitioned(const goal::Graph&, const machine::Machine&,
                                                               std::uint64_t, const pdes::RunConfiguration&,
                                                               Differentiation<2>&);

}  // namespace idlewave::loggops

namespace idlewave::testing {

template InterleavedRanks<loggops::Slopes<2>> interleaved_ranks(const goal::Graph&, const machine::Machine&,
                                                                std::uint64_t, std::uint32_t, bool,
                                                                loggops::Differentiation<2>&);

}  // namespace idlewave::testing
