#include "base/version.hpp"

namespace idlewave {

const char* version() {
    return "0.1.0";
}

}  // namespace idlewave
