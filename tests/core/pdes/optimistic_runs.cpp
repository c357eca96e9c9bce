#include "behaviour.hpp"
#include "models/phold.hpp"
#include "run_events.hpp"

/// Models that run on the optimistic scheduler alone.
namespace idlewave::testing {

static_assert(pdes::has_reverse<ReversibleModel> && !pdes::has_save<ReversibleModel>);
static_assert(pdes::has_conservative<MixedModel> && !pdes::has_save<MixedModel>);
static_assert(pdes::has_conservative<MixedSavingModel> && pdes::has_save<MixedSavingModel>);

template Partitioned<ReversibleModel> partitioned<false>(const ReversibleModel&, const pdes::Placement&,
                                                         const pdes::PartitionOptions&, const RunAll&);
template Partitioned<MixedModel> partitioned<false>(const MixedModel&, const pdes::Placement&,
                                                    const pdes::PartitionOptions&, const RunAll&);
template Partitioned<MixedSavingModel> partitioned<false>(const MixedSavingModel&, const pdes::Placement&,
                                                          const pdes::PartitionOptions&, const RunAll&);
template Partitioned<models::MixedPhold> partitioned<false>(const models::MixedPhold&, const pdes::Placement&,
                                                            const pdes::PartitionOptions&, const RunAll&);

}  // namespace idlewave::testing
