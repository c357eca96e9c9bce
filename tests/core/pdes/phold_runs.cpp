#include "leg_runs.hpp"

namespace idlewave::testing {

template pdes::EventRun run(const Phold&, const pdes::EventRunOptions&);

}  // namespace idlewave::testing
