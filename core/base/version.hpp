#pragma once

namespace idlewave {

/// The library's version, as in the changelog.
const char* version();

}  // namespace idlewave
