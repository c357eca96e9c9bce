#include "behaviour.hpp"
#include "run_events.hpp"

namespace idlewave::testing {

template States<CopiedModel> one_by_one<false>(const CopiedModel&);
template States<CopiedModel> one_by_one<true>(const CopiedModel&);
template States<CopiedModel> windowed(const CopiedModel&, std::uint32_t);
template Partitioned<CopiedModel> conservative(const CopiedModel&, const pdes::Placement&,
                                               const pdes::PartitionOptions&, const RunAll&);
template Partitioned<CopiedModel> partitioned<false>(const CopiedModel&, const pdes::Placement&,
                                                     const pdes::PartitionOptions&, const RunAll&);
template Partitioned<CopiedModel> partitioned<true>(const CopiedModel&, const pdes::Placement&,
                                                    const pdes::PartitionOptions&, const RunAll&);

}  // namespace idlewave::testing
