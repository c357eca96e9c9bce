#include "segmented_runs.hpp"

namespace idlewave::testing {

template pdes::RunResult run(const Phold&, const pdes::RunConfiguration&);

}  // namespace idlewave::testing
