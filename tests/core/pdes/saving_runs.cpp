#include "behaviour.hpp"
#include "run_events.hpp"
#include "run_segments.hpp"

namespace idlewave::testing {

static_assert(pdes::has_save<SavingModel> && pdes::has_serialise<SavingModel>);
static_assert(!pdes::has_digest<SavingModel> && !pdes::has_commit<SavingModel>);

template Partitioned<SavingModel> partitioned<false>(const SavingModel&, const pdes::Placement&,
                                                     const pdes::PartitionOptions&, const RunAll&);
template pdes::RunResult run(const SavingModel&, const pdes::RunConfiguration&);
template RunWithRecords run_with_records(const SavingModel&, const pdes::RunConfiguration&);

}  // namespace idlewave::testing
