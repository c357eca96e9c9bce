#include "collectives/step.hpp"

#include <string>

#include "base/error.hpp"

namespace idlewave::collectives::steps {

void refuse_size(std::uint64_t bytes) {
    throw InputError("an algorithm sends a message of " + std::to_string(bytes) + " bytes: expected at most " +
                     std::to_string(goal::largest_size));
}

}  // namespace idlewave::collectives::steps
