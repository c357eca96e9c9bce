#pragma once

#include <cstdint>
#include <string_view>

#include "collectives/step.hpp"

namespace idlewave::collectives {

/// The operation to which an op belongs: a collective or a pattern.
struct CallName {
    std::string_view operation;  ///< such as "allreduce"; empty if the op belongs to none
    std::string_view algorithm;  ///< the algorithm of a collective
    bool collective = false;
};

/// The number of the operation whose steps are `step`, or if the call follows a rule those of its algorithm; 0 if there
/// is none.
std::uint16_t call_number(StepFunction step, const CollectiveCall& call = {});

/// The operation with this number.
CallName call_name(std::uint16_t number);

}  // namespace idlewave::collectives
