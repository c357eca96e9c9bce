// What ends a probe: the words for its user.
#pragma once

#include <stdexcept>

namespace idlewave::network {

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What was asked for is not understood: exit status 2.
struct WrongUse : Failure {
    using Failure::Failure;
};

}  // namespace idlewave::network
