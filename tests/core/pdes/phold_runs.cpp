#include "models/phold.hpp"
#include "run_events.hpp"
#include "run_segments.hpp"

namespace idlewave::testing {

using models::Phold;

template States<Phold> one_by_one<false>(const Phold&);
template States<Phold> windowed(const Phold&, std::uint32_t);
template Partitioned<Phold> conservative(const Phold&, const pdes::Placement&, const pdes::PartitionOptions&,
                                         const RunAll&);
template Partitioned<Phold> partitioned<false>(const Phold&, const pdes::Placement&, const pdes::PartitionOptions&,
                                               const RunAll&);
template pdes::RunResult run(const Phold&, const pdes::RunConfiguration&);

}  // namespace idlewave::testing
