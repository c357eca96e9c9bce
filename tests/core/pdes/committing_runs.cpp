#include "behaviour.hpp"
#include "run_events.hpp"
#include "run_segments.hpp"

namespace idlewave::testing {

static_assert(pdes::has_save<CommittingModel> && pdes::has_commit<CommittingModel> &&
              pdes::has_digest<CommittingModel>);

template Partitioned<CommittingModel> partitioned<false>(const CommittingModel&, const pdes::Placement&,
                                                         const pdes::PartitionOptions&, const RunAll&);
template pdes::RunResult run(const CommittingModel&, const pdes::RunConfiguration&);

}  // namespace idlewave::testing
