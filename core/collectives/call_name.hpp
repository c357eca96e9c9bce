#pragma once

#include <cstdint>
#include <string_view>

#include "collectives/step.hpp"

namespace idlewave {

/// What an op belongs to: a call of a collective or of a pattern.
struct CallName {
    std::string_view operation;  ///< such as "allreduce"; "": to none
    std::string_view algorithm;  ///< of a collective
    bool collective = false;
};

/// The number of the operation that has these steps; 0 if it is none of them.
std::uint16_t call_number(StepFunction step);

/// The operation of this number.
CallName call_name(std::uint16_t number);

}  // namespace idlewave
