#pragma once

#include "pdes/model.hpp"
#include "pdes/optimistic.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/scheduler.hpp"

namespace idlewave::pdes {

/// The optimistic scheduler, which makes, undoes, compares and makes again each execution of an LP
/// (execution_check.hpp). It has one partition, and so no rollbacks of its own.
template <WindowModel M>
class CheckingScheduler : public OptimisticScheduler<M> {
  public:
    CheckingScheduler(M& model, const Placement& placement, TransportOf<M>& transport, PartitionOptions options)
        : OptimisticScheduler<M>(model, placement, transport, checking(options)) {}

  private:
    static PartitionOptions checking(PartitionOptions options) {
        options.check = true;
        return options;
    }
};

/// A test of a model: whether it undoes what it did, and does the same twice.
struct Check {
    static constexpr SchedulerTraits traits{.one_thread = true};

    template <WindowModel M>
    using Of = CheckingScheduler<M>;
};

}  // namespace idlewave::pdes
