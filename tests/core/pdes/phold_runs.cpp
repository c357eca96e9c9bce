#include "segmented_runs.hpp"

namespace idlewave::testing {

template pdes::RunResult run(const models::Phold&, const pdes::RunConfiguration&);

}  // namespace idlewave::testing
