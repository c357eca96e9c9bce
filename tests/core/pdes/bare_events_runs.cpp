#include <type_traits>

#include "behaviour.hpp"
#include "run_segments.hpp"

namespace idlewave::testing {

static_assert(std::is_empty_v<BareEventsModel::Payload>);

template pdes::RunResult run(const BareEventsModel&, const pdes::RunConfiguration&);

}  // namespace idlewave::testing
