#pragma once

#include <type_traits>

#include "pdes/conservative.hpp"
#include "pdes/model.hpp"
#include "pdes/optimistic.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/scheduler.hpp"

namespace idlewave::pdes {

/// Another scheduler, which makes, undoes, compares and makes again each execution of an LP (execution_check.hpp).
template <class Base, WindowModel M>
class CheckingScheduler : public Base {
  public:
    CheckingScheduler(M& model, const Placement& placement, TransportOf<M>& transport, PartitionOptions options)
        : Base(model, placement, transport, checking(options)) {}

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
    using Of =
        CheckingScheduler<std::conditional_t<may_lack_lookahead<M>, OptimisticScheduler<M>, ConservativeScheduler<M>>,
                          M>;
};

}  // namespace idlewave::pdes
